/** Tests the verification of audit logs with the log of the docs, changed in every way. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { auditLogExample } from '../../../scripts/audit-log-example.ts';
import { chainEntry, emptyLog, toCanonicalJson } from '../../../services/identity/rules/audit-chain.ts';
import { type AuditLogChecks, type AuditLogSource, verifyAuditLog } from './audit-log.ts';

const log = readFileSync(new URL('../../../docs/audit-log/example.jsonl', import.meta.url), 'utf8');
const lines = log.trimEnd().split('\n');
const join = (some: readonly (string | undefined)[]) => `${some.join('\n')}\n`;
const hashes = lines.map((line): string => JSON.parse(line).hash);
const newest = hashes.at(-1) ?? '';

const findFault = (source: AuditLogSource, checks?: AuditLogChecks) =>
  verifyAuditLog(source, checks).then(
    () => 'none',
    ({ reason, line }) => `${reason} ${line}`,
  );

/** The log with other words in the third entry, and a chain that fits them. */
function rewrite(): string {
  let head = emptyLog;
  const written = lines.map((line, at) => {
    const { seq: _, hash: __, previous_hash: ___, ...fields } = JSON.parse(line);
    const entry = chainEntry(head, at === 2 ? { ...fields, details: { title: 'Other' } } : fields);
    head = entry;
    return toCanonicalJson(entry);
  });
  return join(written);
}

describe('verifyAuditLog', () => {
  test('accepts a complete log, as text, bytes and a stream', async () => {
    const verified = { entries: 6, first: 1, last: 6, hash: newest };
    const bytes = new TextEncoder().encode(log);
    const parts = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
      bytes.slice(7 * at, 7 * at + 7),
    );
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    for (const source of [log, bytes, stream, log.trimEnd()])
      expect(await verifyAuditLog(source, { from: 1, knownHashes: hashes })).toEqual(verified);
    expect(auditLogExample()).toBe(log);
  });

  test('accepts a part of a log, from any entry on', async () => {
    for (const [at, hash] of hashes.entries()) {
      const part = join(lines.slice(at));
      expect(await verifyAuditLog(part, { knownHashes: [hash] })).toMatchObject({ first: at + 1, last: 6 });
      expect(await findFault(part, { from: 1 })).toBe(at === 0 ? 'none' : 'wrong_start 1');
    }
    // the stored hash may be that of the entry before the part
    expect(await findFault(join(lines.slice(2)), { knownHashes: hashes.slice(1, 2) })).toBe('none');
    expect(await verifyAuditLog('')).toEqual({ entries: 0 });
  });

  test('finds every flipped bit', async () => {
    const bytes = new TextEncoder().encode(log);
    const unnoticed: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      // without the last line feed the log is the same
      const isEnd = at === bytes.length - 1;
      if (!isEnd && (await findFault(changed)) === 'none') unnoticed.push(at);
    }
    expect(unnoticed).toEqual([]);
  });

  test('finds swaps, gaps and repeated entries', async () => {
    const [one, two, three, four, five, six] = lines;
    expect(await findFault(join([one, three, two, four, five, six]))).toBe('gap 2');
    expect(await findFault(join([two, one]))).toBe('gap 2');
    expect(await findFault(join([one, two, four, five, six]))).toBe('gap 3');
    expect(await findFault(join([one, one, two]))).toBe('gap 2');
    expect(await findFault(join([one, '', two]))).toBe('invalid_entry 2');
    expect(await findFault(join([one, rewrite().split('\n')[3]]))).toBe('gap 2');
    expect(await findFault(join([...lines.slice(0, 3), rewrite().split('\n')[3]]))).toBe('broken_chain 4');
    const foreign = JSON.parse(one ?? '');
    const other = { ...foreign, organization_id: foreign.id, seq: 2, previous_hash: foreign.hash };
    expect(await findFault(join([one, toCanonicalJson(other)]))).toBe('other_organization 2');
    const hidden = { ...foreign, previous_hash: 'a'.repeat(64) };
    expect(await findFault(join([toCanonicalJson(hidden)]))).toBe('broken_chain 1');
  });

  test('finds a cut off or rewritten log by a stored hash', async () => {
    expect(await findFault(join(lines.slice(0, 5)))).toBe('none');
    expect(await findFault(join(lines.slice(0, 5)), { knownHashes: [newest] })).toBe('missing_hash 0');
    expect(await findFault('', { knownHashes: [newest] })).toBe('missing_hash 0');
    expect(await findFault('', { from: 1 })).toBe('wrong_start 0');
    expect(await findFault(rewrite())).toBe('none');
    for (const hash of hashes.slice(2))
      expect(await findFault(rewrite(), { knownHashes: [hash] })).toBe('missing_hash 0');
  });
});
