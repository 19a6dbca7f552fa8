/** The security log: one line for each audit event, in the same stream as the other logs. */
import type { AuditDetails } from '#libs/http';
import type { Log } from './log.ts';

/** One audit event. `details` can override a field, e.g. the actor of a login. */
export interface AuditEvent {
  /** Name of the event, e.g. `api_key.create`. */
  event: string;
  /** `done`, `replayed`, or the code of the problem that the request ended in. */
  outcome: string;
  /** Who made the request: a user id, `operator`, `system`, or null if unknown. */
  actor_id: string | null;
  organization_id: string | null;
  /** Id of the API key, if one was used. */
  key_id: string | null;
  request_id: string | null;
  /** The client's IP address. Trusted proxies are skipped. */
  address: string | null;
  details: AuditDetails;
}

/** Writes an audit event to the security log. */
export type SecurityLog = (line: AuditEvent) => void;

/** Creates the security log. It writes at every LOG_LEVEL except `silent`. */
export function securityLog(log: Log): SecurityLog {
  const lines = log.child({ audit: true }, { level: log.level === 'silent' ? 'silent' : 'info' });
  return ({ details, ...line }) => lines.info({ ...line, ...details }, line.event);
}

/** Creates the audit event of an action that the system or an operator command took without a request. */
export function systemAuditEvent(
  event: string,
  actor_id: 'system' | 'operator',
  details: AuditDetails,
): AuditEvent {
  const noRequest = { organization_id: null, key_id: null, request_id: null, address: null };
  return { event, outcome: 'done', actor_id, ...noRequest, details };
}
