/** Verifies an exported audit log: that its chain has no gap and that no entry was changed. Has no dependencies. */

/** Why a log is not as it was written. */
export type AuditLogFault =
  | 'invalid_entry'
  | 'wrong_hash'
  | 'gap'
  | 'broken_chain'
  | 'other_organization'
  | 'missing_hash'
  | 'wrong_start';

/** The log was changed. `line` is the first line that is wrong, from 1. */
export class AuditLogVerificationError extends Error {
  readonly reason: AuditLogFault;
  readonly line: number;
  constructor(reason: AuditLogFault, line: number, message: string) {
    super(line > 0 ? `Line ${line}: ${message}` : message);
    this.name = 'AuditLogVerificationError';
    this.reason = reason;
    this.line = line;
  }
}

/** What you know about the log from elsewhere. */
export interface AuditLogChecks {
  /** Hashes that you stored earlier. The log must contain all of them, so it was not cut off or written anew. */
  knownHashes?: readonly string[];
  /** The `seq` of the first entry, such as 1 for a complete log. Without it, the log may begin anywhere. */
  from?: number;
}

/** A verified log. An empty one has no `first` and `last`. */
export interface VerifiedAuditLog {
  entries: number;
  first?: number;
  last?: number;
  /** The hash of the last entry. Store it elsewhere: it proves later that nothing before it was changed. */
  hash?: string;
}

interface Entry {
  [field: string]: unknown;
  seq: number;
  organization_id: string;
  previous_hash: string;
  hash: string;
}

/** The content of an export in the format `jsonl`, whole or in parts, such as `download.stream`. */
export type AuditLogSource =
  | string
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/**
 * Verifies an export in the format `jsonl`, complete or from any `seq`. Rejects with `AuditLogVerificationError` if it
 * was changed. A chain alone does not stop somebody who can write the whole log anew: pass `knownHashes`.
 */
export async function verifyAuditLog(
  source: AuditLogSource,
  { knownHashes = [], from }: AuditLogChecks = {},
): Promise<VerifiedAuditLog> {
  const missing = new Set(knownHashes);
  let previous: Entry | undefined;
  let first: number | undefined;
  let entries = 0;
  for await (const line of readLines(source)) {
    entries += 1;
    const entry = parseEntry(line, entries);
    if (previous) checkOrder(previous, entry, entries);
    else checkStart(entry, from);
    if ((await hashEntry(entry)) !== entry.hash)
      throw new AuditLogVerificationError('wrong_hash', entries, 'The hash does not match the entry');
    first ??= entry.seq;
    missing.delete(entry.hash);
    // an export may begin right after the entry whose hash was stored
    if (!previous) missing.delete(entry.previous_hash);
    previous = entry;
  }
  if (missing.size > 0)
    throw new AuditLogVerificationError('missing_hash', 0, `The log does not contain ${[...missing][0]}`);
  if (from !== undefined && !previous)
    throw new AuditLogVerificationError('wrong_start', 0, `The log is empty and does not begin with ${from}`);
  if (!previous || first === undefined) return { entries };
  return { entries, first, last: previous.seq, hash: previous.hash };
}

function checkStart({ seq, previous_hash }: Entry, from: number | undefined): void {
  if (from !== undefined && seq !== from)
    throw new AuditLogVerificationError('wrong_start', 1, `The log begins with ${seq}, not with ${from}`);
  if (seq === 1 && previous_hash !== '0'.repeat(64))
    throw new AuditLogVerificationError('broken_chain', 1, 'The first entry follows another one');
}

function checkOrder(previous: Entry, entry: Entry, line: number): void {
  const fail = (reason: AuditLogFault, message: string) =>
    new AuditLogVerificationError(reason, line, message);
  if (entry.organization_id !== previous.organization_id)
    throw fail('other_organization', 'The entry belongs to another organization');
  if (entry.seq !== previous.seq + 1) throw fail('gap', `${entry.seq} follows ${previous.seq}`);
  if (entry.previous_hash !== previous.hash)
    throw fail('broken_chain', 'The entry does not follow the one before it');
}

/** Parses a line. It must be canonical, so that no byte of it can be another one. */
function parseEntry(line: string, number: number): Entry {
  const invalid = new AuditLogVerificationError(
    'invalid_entry',
    number,
    'The line is not an entry as exported',
  );
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    throw invalid;
  }
  if (!isEntry(entry) || toCanonicalJson(entry) !== line) throw invalid;
  return entry;
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  const { seq, organization_id, previous_hash, hash }: Partial<Entry> = value;
  const isPosition = Number.isSafeInteger(seq) && Number(seq) >= 1;
  return isPosition && [organization_id, previous_hash, hash].every((text) => typeof text === 'string');
}

async function hashEntry({ hash: _, ...entry }: Entry): Promise<string> {
  const bytes = new TextEncoder().encode(toCanonicalJson(entry));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Writes canonical JSON (RFC 8785): the fields are sorted by UTF-16 code units, and there are no spaces. */
function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toCanonicalJson(field)}`).join(',')}}`;
}

/** Splits the log into lines, without the line feeds. */
async function* readLines(source: AuditLogSource): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let [rest, count] = ['', 0];
  for await (const part of readParts(source)) {
    const lines = (rest + decode(decoder, part, count + 1)).split('\n');
    rest = lines.pop() ?? '';
    count += lines.length;
    yield* lines;
  }
  rest += decode(decoder, new Uint8Array(), count + 1, false);
  if (rest !== '') yield rest;
}

function decode(decoder: TextDecoder, part: Uint8Array | string, line: number, stream = true): string {
  if (typeof part === 'string') return part;
  try {
    return decoder.decode(part, { stream });
  } catch {
    throw new AuditLogVerificationError('invalid_entry', line, 'The line is not UTF-8');
  }
}

async function* readParts(source: AuditLogSource): AsyncGenerator<Uint8Array | string> {
  if (typeof source === 'string' || source instanceof Uint8Array) yield source;
  else if (source instanceof ReadableStream) {
    const reader = source.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } else yield* source;
}
