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
  expect(refused.stderr).toContain('--accept-changes');
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

test('pds push imports none of several files of one name', async () => {
  await copyFile(join(files, 'shop.md'), join(folder, 'sop.md'));
  await copyFile(join(files, 'arranque.docx'), join(folder, 'sop.docx'));
  for (const options of [['--dry-run'], [], []]) {
    const { code, stdout } = await pds.run(['push', '.', '--json', ...options], { env, cwd: folder });
    const failed = { outcome: 'failed', message: expect.stringContaining('sop.json') };
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      [
        { file: 'sop.docx', ...failed },
        { file: 'sop.md', ...failed },
      ],
    ]);
  }
  expect(await countDrafts()).toBe(0);
});

test('pds push never overwrites the document file of another file', async () => {
  await copyFile(join(files, 'arranque.docx'), join(folder, 'sop.docx'));
  expect((await pds.run(['push', '.'], { env, cwd: folder })).code).toBe(0);
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

test('pds push sends the pictures in the folder of a Markdown or HTML file', async () => {
  await mkdir(join(folder, 'img'));
  const picture = fileURLToPath(new URL('../../docs/images/import.png', import.meta.url));
  await copyFile(picture, join(folder, 'img', 'Screen größe.png'));
  await writeFile(join(folder, '..', 'outside.png'), 'not sent');
  const markdown = '# Note\n\n![one](<img/Screen größe.png>)\n\n![two](img/screen%20gr%C3%B6%C3%9Fe.png)\n';
  await writeFile(join(folder, 'note.md'), `${markdown}\n![three](../outside.png)\n`);
  await writeFile(join(folder, 'page.html'), '<h1>Page</h1><img alt="one" src="img/Screen größe.png">');
  await writeFile(join(folder, 'untitled.md'), '![one](<img/Screen größe.png>)');
  const { code, stdout } = await pds.run(['push', '.', '--json'], { env, cwd: folder });
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    [
      { file: 'note.md', message: expect.stringContaining('1 picture\nwarning: ') },
      { file: 'page.html', message: expect.stringMatching(/1 picture$/) },
      { file: 'untitled.md', outcome: 'created' },
    ],
  ]);
  const note = await readFile(join(folder, 'note.json'), 'utf8');
  expect(note.match(/"src": "asset:/g)).toHaveLength(2);
  expect(note).toContain('[picture: three]');
  expect(await readFile(join(folder, 'page.json'), 'utf8')).toContain('"src": "asset:');
  expect(JSON.parse(await readFile(join(folder, 'untitled.json'), 'utf8')).title).toBe('untitled');

  const preview = await pds.run(['import', 'note.md', '--preview'], { env, cwd: folder });
  expect(preview.stdout).toContain('1 picture\n');
});

test('pds push fails for a Markdown file with more than 27 MiB of pictures', async () => {
  const names = ['a.png', 'b.png', 'c.png'];
  for (const name of names) await writeFile(join(folder, name), new Uint8Array(10 * 1024 * 1024));
  await writeFile(join(folder, 'note.md'), names.map((name) => `![](${name})`).join('\n'));
  await copyFile(join(files, 'shop.md'), join(folder, 'shop.md'));
  const { code, stdout } = await pds.run(['push', '.', '--json'], { env, cwd: folder });
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    [
      { file: 'note.md', outcome: 'failed', message: expect.stringContaining('27 MiB') },
      { file: 'shop.md', outcome: 'created' },
    ],
  ]);
});

test('pds push does not read folders that are named like files', async () => {
  for (const name of ['notes.md', 'old.json']) await mkdir(join(folder, name));
  const { code, stdout, stderr } = await pds.run(['push', '.'], { env, cwd: folder });
  expect([code, stdout]).toEqual([0, 'No documents.\n']);
  expect(stderr).toBe('Subfolders are not read: notes.md, old.json\n');
});

test('pds push skips the lock files of open documents', async () => {
  const names = ['~$arranque.docx', '.~lock.arranque.docx#', '~$old.doc'];
  for (const name of names) await writeFile(join(folder, name), 'lock');
  await copyFile(join(files, 'arranque.docx'), join(folder, 'arranque.docx'));
  for (const paths of [['.'], ['~$arranque.docx', 'arranque.json']]) {
    const { code, stdout, stderr } = await pds.run(['push', ...paths], { env, cwd: folder });
    expect([code, stdout, stderr]).toEqual([0, expect.not.stringContaining('~'), '']);
  }
});

test('pds push names the documents that it does not support once', async () => {
  for (const name of ['a.doc', 'b.ODT', 'c.rtf', 'd.txt', '.e.odt', 'done.doc', 'readme.rtf'])
    await writeFile(join(folder, name), 'x');
  await writeFile(join(folder, 'done.json'), '{ "title": "Done" }');
  const { code, stdout, stderr } = await pds.run(['push', '.'], { env, cwd: folder });
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 created')]);
  expect(stderr).toBe('Not supported: a.doc, b.ODT, c.rtf\nSave them as .docx, and push again.\n');

  const named = await pds.run(['push', 'b.ODT'], { env, cwd: folder });
  expect([named.code, named.stdout]).toEqual([1, expect.stringContaining('Upload a .docx')]);
});
