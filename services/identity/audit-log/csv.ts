/** Writes entries of the audit log as CSV. */
import { toCsvLine } from '#libs/http';
import type { AuditEntry } from '../contract/audit-entries.ts';
import { toCanonicalJson } from '../rules/audit-chain.ts';

type Cell = string | number | null;

const columns: Readonly<Record<string, (entry: AuditEntry) => Cell>> = {
  seq: ({ seq }) => seq,
  id: ({ id }) => id,
  organization_id: ({ organization_id }) => organization_id,
  occurred_at: ({ occurred_at }) => occurred_at,
  action: ({ action }) => action,
  actor_type: ({ actor }) => actor.type,
  actor_id: ({ actor }) => actor.id,
  api_key_id: ({ api_key_id }) => api_key_id,
  request_id: ({ request_id }) => request_id,
  document_id: ({ document_id }) => document_id,
  target_type: ({ target }) => target.type,
  target_id: ({ target }) => target.id,
  details: ({ details }) => toCanonicalJson(details),
  previous_hash: ({ previous_hash }) => previous_hash,
  hash: ({ hash }) => hash,
};

/** The first line: the names of the columns. */
export const csvHeader = toCsvLine(Object.keys(columns));

/** Returns the line of an entry. */
export function toCsvRow(entry: AuditEntry): string {
  return toCsvLine(Object.values(columns).map((toCell) => toCell(entry)));
}
