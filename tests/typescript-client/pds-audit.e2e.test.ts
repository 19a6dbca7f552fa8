/** Tests the commands of the installed program `pds` about the audit log against real services. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMember, publishDocument, until } from '#libs/testing';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

let pds: PdsFixture;

beforeAll(async () => {
  pds = await createPdsFixture();
});
afterAll(() => pds?.close());

/** Registers an organization whose log has at least three entries, two of them about documents. */
async function createLog() {
  const { admin, env } = await pds.createAdmin();
  const documents = [
    await publishDocument(pds.app, admin.key, { title: '=Till' }),
    await publishDocument(pds.app, admin.key, { title: 'Safe' }),
  ] as const;
  // the entry of the key comes from another service, maybe as the last one
  await until('the entries of both documents and of the key', async () => {
    return (await pds.json(['audit', 'list'], { env })).length >= 3;
  });
  return { admin, env, documents };
}

test('the audit log is listed with filters, newest first', async () => {
  const { admin, env, documents } = await createLog();
  const [, safe] = documents;
  const list = (...options: string[]) => pds.run(['audit', 'list', ...options], { env });
  const listJson = (...options: string[]) => pds.json(['audit', 'list', ...options], { env });
  const published = await list('--action', 'document.published');
  const line = (id: string) => `\\d+ +\\S+ +document\\.published +${admin.userId} +document ${id}\\n`;
  expect(published.stdout).toMatch(
    new RegExp(`^SEQ +TIME +ACTION +ACTOR +TARGET\\n${line(safe.id)}${line(documents[0].id)}$`),
  );
  expect(await listJson('--document', safe.id)).toMatchObject([{ document_id: safe.id }]);
  const all = await listJson();
  expect(all.map(({ seq }: { seq: number }) => seq)).toEqual(
    Array.from({ length: all.length }, (_, at) => all.length - at),
  );
  expect(await listJson('--limit', '1')).toEqual(all.slice(0, 1));
  expect(await listJson('--actor', safe.id)).toEqual([]);
  expect(await listJson('--since', '2100-01-01T00:00:00Z')).toEqual([]);
  expect(await listJson('--until', '2000-01-01T00:00:00Z')).toEqual([]);

  const unknown = await list('--action', 'document.printed');
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('invalid_request')]);
  expect((await list('--limit', '0')).code).toBe(2);
  const member = await addMember(pds.app, admin.key);
  const forbidden = await pds.run(['audit', 'list'], { env: { ...env, PDS_KEY: member.token } });
  expect([forbidden.code, forbidden.stderr]).toEqual([3, expect.stringContaining('forbidden')]);
});

test('the audit log is exported, and its verification finds a change', async () => {
  const { env } = await createLog();
  const file = join(pds.folder, 'audit-log.jsonl');
  expect(await pds.json(['audit', 'export'], { env })).toEqual({ file });
  const text = await readFile(file, 'utf8');
  const lines = text.trimEnd().split('\n');
  const newest: string = JSON.parse(lines.at(-1) ?? '').hash;
  // without credentials, because it needs no connection
  const verify = (...checks: string[]) => pds.run(['audit', 'verify', file, ...checks]);
  expect(await verify('--from', '1', '--hash', newest)).toMatchObject({
    code: 0,
    stdout: `${lines.length} entries, 1 to ${lines.length}, are as exported. The newest hash is ${newest}\n`,
  });
  expect(await pds.json(['audit', 'verify', file])).toMatchObject({ entries: lines.length, hash: newest });

  await writeFile(file, text.replace('Safe', 'safe'));
  const changed = await verify();
  expect([changed.code, changed.stderr]).toEqual([1, expect.stringMatching(/^Error: Line \d+: /)]);
  await writeFile(file, `${lines.slice(0, -1).join('\n')}\n`);
  expect((await verify()).code).toBe(0);
  const cut = await verify('--hash', newest);
  expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining(newest)]);
  const missing = await pds.run(['audit', 'verify', join(pds.folder, 'none.jsonl')]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('none.jsonl')]);
});

test('the audit log is exported as CSV and to stdout, in a period', async () => {
  const { env } = await createLog();
  const print = ['audit', 'export', '--output', '-'];
  const csv = await pds.run([...print, '--format', 'csv'], { env });
  expect(csv.stdout).toMatch(/^seq,id,[^\r]*,hash\r\n1,/);
  expect(csv.stdout.match(/,document\.published,/g)).toHaveLength(2);
  const empty = await pds.run([...print, '--since', '2100-01-01T00:00:00Z'], { env });
  expect(empty).toMatchObject({ code: 0, stdout: '' });
  expect((await pds.run([...print, '--json'], { env })).code).toBe(2);
});
