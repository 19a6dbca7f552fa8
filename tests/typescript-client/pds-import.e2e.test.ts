/** Tests `pds import`, and `pds push` of Word and Markdown files, against real services. */
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDocument, must, type Person } from '#libs/testing';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

const files = fileURLToPath(new URL('../fixtures/imports/', import.meta.url));
let pds: PdsFixture;
let admin: Person;
let env: Record<string, string>;
let folder: string;

beforeAll(async () => {
  pds = await createPdsFixture();
});
afterAll(() => pds?.close());
beforeEach(async () => {
  ({ admin, env } = await pds.createAdmin());
  folder = await mkdtemp(join(pds.folder, 'import-'));
});

const countDrafts = async () => (await must(pds.app, 'GET', '/documents/counts', { as: admin.key })).draft;

test('pds import --preview shows the outline and the report, without a draft', async () => {
  const file = join(files, 'filling-line.docx');
  const { code, stdout } = await pds.run(['import', file, '--preview'], { env });
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['Filling line: start-up', '  Preparation', '    Tools', '6 nodes, 1 picture']),
  );
  expect(stdout).toContain('left out: header (1)');
  expect(await countDrafts()).toBe(0);
});

test('pds import creates a draft and prints its id', async () => {
  const { code, stdout } = await pds.run(['import', join(files, 'wartung.docx')], { env });
  expect(code).toBe(0);
  const [, id] = /^(\S{36}) {2}Wartung der Abfüllanlage$/m.exec(stdout) ?? [];
  expect(await must(pds.app, 'GET', `/documents/${id}`, { as: admin.key })).toMatchObject({
    status: 'draft',
  });
});

test('pds import refuses tracked changes unless they are accepted', async () => {
  const file = join(files, 'tracked.docx');
  const refused = await pds.run(['import', file], { env });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('tracked changes');
  const accepted = await pds.run(['import', file, '--accept-changes'], { env });
  expect(accepted.code).toBe(0);
});

test('pds push imports Word and Markdown files once, and reports each', async () => {
  await copyFile(join(files, 'arranque.docx'), join(folder, 'arranque.docx'));
  await copyFile(join(files, 'tracked.docx'), join(folder, 'tracked.docx'));
  await copyFile(join(files, 'shop.md'), join(folder, 'shop.md'));
  await writeFile(join(folder, 'README.md'), '# About this folder\n');
  const push = (...options: string[]) => pds.run(['push', '.', '--json', ...options], { env, cwd: folder });
  const dry = await push('--dry-run');
  expect(JSON.parse(dry.stdout).map(({ file }: { file: string }) => file)).toEqual([
    ...['arranque.docx', 'shop.md', 'tracked.docx'],
  ]);
  expect(await countDrafts()).toBe(0);

  const first = await push();
  expect(first.code).toBe(1);
  expect(JSON.parse(first.stdout)).toMatchObject([
    { file: 'arranque.docx', outcome: 'created' },
    { file: 'shop.md', outcome: 'created', message: expect.stringContaining('warning: ') },
    { file: 'tracked.docx', outcome: 'failed' },
  ]);
  expect(JSON.parse(await readFile(join(folder, 'shop.json'), 'utf8'))).toMatchObject({
    ...{ id: expect.any(String), title: 'Opening the shop', version: '1.4', department: 'Sales' },
  });
  expect(await countDrafts()).toBe(2);

  const second = await push();
  expect(JSON.parse(second.stdout)).toMatchObject([
    { file: 'arranque.json', outcome: 'unchanged' },
    { file: 'shop.json', outcome: 'unchanged' },
    { file: 'tracked.docx', outcome: 'failed' },
  ]);
  expect(await countDrafts()).toBe(2);
});

test('pds push --publish also publishes what it imports', async () => {
  await copyFile(join(files, 'shop.md'), join(folder, 'security-rounds.md'));
  await copyFile(join(files, 'shop.md'), join(folder, 'security.md'));
  const push = () => pds.run(['push', '.', '--json', '--publish'], { env, cwd: folder });
  const { code, stdout } = await push();
  expect([code, JSON.parse(stdout)]).toMatchObject([0, [{ file: 'security-rounds.md', outcome: 'created' }]]);
  const { id } = JSON.parse(await readFile(join(folder, 'security-rounds.json'), 'utf8'));
  expect((await must(pds.app, 'GET', `/documents/${id}`, { as: admin.key })).status).toBe('published');
  expect(JSON.parse((await push()).stdout)).toMatchObject([{ outcome: 'unchanged' }]);
});

test('pds push never overwrites the document file of another file', async () => {
  await copyFile(join(files, 'shop.md'), join(folder, 'sop.md'));
  await copyFile(join(files, 'arranque.docx'), join(folder, 'sop.docx'));
  for (const options of [['--dry-run'], []]) {
    const { code, stdout } = await pds.run(['push', '.', '--json', ...options], { env, cwd: folder });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      [
        { file: 'sop.docx', outcome: 'created' },
        { file: 'sop.md', outcome: 'failed', message: expect.stringContaining('sop.json') },
      ],
    ]);
  }
  const stored = await readFile(join(folder, 'sop.json'), 'utf8');
  expect((await pds.run(['push', 'sop.docx'], { env, cwd: folder })).code).toBe(1);
  expect(await readFile(join(folder, 'sop.json'), 'utf8')).toBe(stored);
  expect(await countDrafts()).toBe(1);
});

test('pds push refuses a library, which it would import again each time', async () => {
  for (const title of ['One', 'Two']) await createDocument(pds.app, admin.key, { title });
  const library = ['library', 'export', '--output', 'all.zip'];
  expect((await pds.run(library, { env, cwd: folder })).code).toBe(0);
  const { code, stdout } = await pds.run(['push', '.', '--json'], { env, cwd: folder });
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    [{ file: 'all.zip', outcome: 'failed', message: expect.stringContaining('pds import') }],
  ]);
  expect(await countDrafts()).toBe(2);
});

test('pds push names the subfolders that it does not read', async () => {
  for (const name of ['line-1', 'line-2', '.git']) await mkdir(join(folder, name));
  await copyFile(join(files, 'shop.md'), join(folder, 'line-1', 'shop.md'));
  const { code, stdout, stderr } = await pds.run(['push', '.', 'line-1'], { env, cwd: folder });
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 created')]);
  expect(stderr).toBe('Subfolders are not read: line-2\n');
});
