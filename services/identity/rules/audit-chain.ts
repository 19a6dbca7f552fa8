/** Chains the entries of an audit log: each entry has the hash of the one before it. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AuditEntry } from '../contract/audit-entries.ts';

/** The newest entry of a log, as far as the next one needs it. */
export type AuditHead = Pick<AuditEntry, 'seq' | 'hash'>;

/** The head of a log without entries. */
export const emptyLog: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** Returns the entry that follows `head`. */
export function chainEntry(
  { seq, hash }: AuditHead,
  fields: Omit<AuditEntry, 'seq' | 'hash' | 'previous_hash'>,
): AuditEntry {
  const entry = { seq: seq + 1, ...fields, previous_hash: hash };
  return { ...entry, hash: hashEntry(entry) };
}

/** Returns the SHA-256 of an entry without its `hash`, as canonical JSON. */
export function hashEntry(entry: Omit<AuditEntry, 'hash'>): string {
  return createHash('sha256').update(toCanonicalJson(entry)).digest('hex');
}

/** Returns the canonical JSON of a value (RFC 8785). */
export function toCanonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('The value is not JSON');
  return text;
}
