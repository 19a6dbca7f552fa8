/** Tests the commands of the installed program `pds` about read acknowledgement against real services. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, publishDocument } from '#libs/testing';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

let pds: PdsFixture;

beforeAll(async () => {
  pds = await createPdsFixture();
});
afterAll(() => pds?.close());

test('people are asked to acknowledge, listed, and confirm', async () => {
  const { admin, env } = await pds.createAdmin();
  const settings = { lock_published: true };
  await must(pds.app, 'PATCH', '/organization', { as: admin.token, body: { settings } });
  const { id, content_hash } = await publishDocument(pds.app, admin.key, { title: 'Till' });
  const asked = await pds.run(['acknowledgements', 'ask', id, '--everyone', '--days', '7'], { env });
  const request = asked.stdout.trim();
  const { stdout } = await pds.run(['acknowledgements', 'add', request, 'E 1', 'Grace Hopper'], { env });
  expect(stdout).toMatch(/\/read\/[\w-]{43}\n$/);
  const path = new URL(stdout.trim()).pathname;
  const form = new URLSearchParams({ content_hash });
  await must(pds.app, 'POST', path, { body: form, status: 303 });
  expect((await pds.run(['acknowledgements', 'show', request], { env })).stdout).toBe(
    'open: 1 of 2 have acknowledged, 1 are pending, 0 overdue.\n',
  );
  const csv = ['acknowledgements', 'people', request, '--format', 'csv'];
  const printed = await pds.run([...csv, '--status', 'acknowledged', '--output', '-'], { env });
  expect(printed.stdout).toMatch(/^id,kind,external_id,[^\r]*\r\n[^,]+,reader,E 1,Grace Hopper,[^\r]*\r\n$/);
  const saved = await pds.json(csv, { env });
  expect(saved).toEqual({ file: join(pds.folder, 'people.csv') });
  expect((await readFile(saved.file, 'utf8')).split('\r\n')).toHaveLength(4);
  const unused = await pds.run(['acknowledgements', 'people', request, '--output', 'x.csv'], { env });
  expect([unused.code, unused.stderr]).toEqual([2, expect.stringContaining('--format csv')]);
  const late = await pds.run(['acknowledgements', 'people', request, '--status', 'acknowledged'], { env });
  expect(late.stdout).toMatch(/^STATUS +DUE +ACKNOWLEDGED +KEY +NAME\nacknowledged .* E 1 +Grace Hopper\n$/);
  expect(await pds.json(['acknowledgements', 'list', '--mine'], { env })).toHaveLength(1);
  expect((await pds.run(['acknowledgements', 'confirm', id], { env })).code).toBe(3);
  const confirm = ['acknowledgements', 'confirm', id, '--email', admin.email];
  expect((await pds.run(confirm, { env, input: admin.password })).stdout).toBe(
    'Acknowledged: I have read and understood this document.\n',
  );
  expect(await pds.json(['acknowledgements', 'list', '--mine'], { env })).toEqual([]);
  expect((await pds.run(['acknowledgements', 'close', request], { env })).code).toBe(0);
  expect(await pds.json(['acknowledgements', 'list', '--status', 'open'], { env })).toEqual([]);
});
