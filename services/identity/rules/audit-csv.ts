/** Writes entries of the audit log as CSV (RFC 4180). */
import type { AuditEntry } from '../contract/audit-entries.ts';
import { toCanonicalJson } from './audit-chain.ts';

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

/** The first row: the names of the columns. */
export const csvHeader = `${Object.keys(columns).join(',')}\r\n`;

/** Returns the row of an entry. */
export function toCsvRow(entry: AuditEntry): string {
  return `${Object.values(columns)
    .map((toCell) => quoteCell(toCell(entry)))
    .join(',')}\r\n`;
}

/** Returns a cell that spreadsheets show as text: they would run one that begins like a formula. */
export function quoteCell(value: Cell): string {
  const text = String(value ?? '');
  const guarded = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
