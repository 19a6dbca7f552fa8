/**
 * The security log: one line for each thing that an auditor asks about, in the same stream as everything
 * else.
 */
import type { AuditDetails } from '#libs/http';
import type { Log } from './log.ts';

/** What one line says; facts may say it better, e.g. who has just logged in. */
export interface AuditEvent {
  /** What was asked for, e.g. `api_key.create`. */
  event: string;
  /** `done`, `replayed`, or the code of the problem that it ended in. */
  outcome: string;
  /** Who asked: a user's id, `operator`, `system`, or nobody known. */
  actor_id: string | null;
  organization_id: string | null;
  /** The API key that was used, if one was. */
  key_id: string | null;
  request_id: string | null;
  /** The client's address, through trusted proxies. */
  address: string | null;
  details: AuditDetails;
}

/** Takes the lines of the security log. */
export type SecurityLog = (line: AuditEvent) => void;

/** Writes the security log; its lines come whatever LOG_LEVEL says, unless it says `silent`. */
export function securityLog(log: Log): SecurityLog {
  const lines = log.child({ audit: true }, { level: log.level === 'silent' ? 'silent' : 'info' });
  return ({ details, ...line }) => lines.info({ ...line, ...details }, line.event);
}

/** What the system did by itself, or an operator with a command. */
export function systemAuditEvent(
  event: string,
  actor_id: 'system' | 'operator',
  details: AuditDetails,
): AuditEvent {
  const nobody = { organization_id: null, key_id: null, request_id: null, address: null };
  return { event, outcome: 'done', actor_id, ...nobody, details };
}
