/** Tests `pds pull` and `pds push` against real services: nothing that others or the user wrote is lost. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDocument, must, type Person, publishDocument } from '#libs/testing';
import { toChecksum } from '../../clients/typescript/src/cli/document-files.ts';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

let pds: PdsFixture;
let admin: Person;
let env: Record<string, string>;
/** The folder of the test. */
let folder: string;

beforeAll(async () => {
  pds = await createPdsFixture();
});
afterAll(() => pds?.close());
beforeEach(async () => {
  ({ admin, env } = await pds.createAdmin());
  folder = await mkdtemp(join(pds.folder, 'sync-'));
});

const path = (name: string) => join(folder, name);
const read = async (name: string) => JSON.parse(await readFile(path(name), 'utf8'));
const write = (name: string, value: unknown) => writeFile(path(name), JSON.stringify(value));
const get = (id: string) => must(pds.app, 'GET', `/documents/${id}`, { as: admin.key });
const patch = (id: string, body: unknown) =>
  must(pds.app, 'PATCH', `/documents/${id}`, { as: admin.key, body });

/** Runs a command in the folder. Returns its exit code, and what happened to each file. */
async function sync(command: 'pull' | 'push', ...options: string[]) {
  const { code, stdout, stderr } = await pds.run([command, '.', '--json', ...options], { env, cwd: folder });
  if (stdout === '') throw new Error(stderr);
  const results: { file: string; outcome: string; message?: string }[] = JSON.parse(stdout);
  return { code, files: Object.fromEntries(results.map(({ file, outcome }) => [file, outcome])), results };
}

const text = (value: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text: value }] }],
});
interface FileNode {
  lineage_id: string;
  children?: FileNode[];
}
const removeLineage = (nodes: FileNode[]): object[] =>
  nodes.map(({ lineage_id: _, children, ...node }) => ({
    ...node,
    ...(children && { children: removeLineage(children) }),
  }));
const step = { node_type: 'step', title: 'Coins', content: text('Count the coins.') };
const tree = [{ node_type: 'section', title: 'Count', children: [step] }];

test('a pushed file becomes a draft, and a pull gives the same file', async () => {
  await write('till.json', { title: 'Closing the till', version: '1', language: 'en', nodes: tree });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'till.json': 'created' } });
  const pushed = await read('till.json');
  expect(await get(pushed.id)).toMatchObject({ title: 'Closing the till', status: 'draft', version: '1' });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'till.json': 'unchanged' } });

  folder = await mkdtemp(join(pds.folder, 'other-'));
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'closing-the-till.json': 'pulled' } });
  expect(await read('closing-the-till.json')).toEqual(pushed);
  expect(await readFile(path('closing-the-till.md'), 'utf8')).toContain('Count the coins.');
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'closing-the-till.json': 'unchanged' } });
});

test('changed files update drafts, and changed documents update files', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP', version: '1', nodes: tree });
  await sync('pull');
  await write('sop.json', { ...(await read('sop.json')), title: 'Renamed', department: 'Shop', nodes: [] });
  expect(await sync('push', '--dry-run')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  expect((await get(id)).title).toBe('SOP');
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  expect(await get(id)).toMatchObject({ title: 'Renamed', version: '1', department: 'Shop', nodes: [] });

  await patch(id, { title: 'By somebody else' });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'outdated' } });
  // the file keeps its name
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'pulled' } });
  expect((await read('sop.json')).title).toBe('By somebody else');
});

test('a pushed tree keeps the ids of its nodes, also in a revision', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP', nodes: tree });
  await sync('pull');
  const before = await get(id);
  const file = await read('sop.json');
  const [section] = file.nodes;
  const added = { node_type: 'section', title: 'Before' };
  await write('sop.json', { ...file, nodes: [added, { ...section, title: 'Count twice' }] });
  expect(await sync('push', '--publish')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  const after = await get(id);
  expect(after.nodes[1]).toMatchObject({ id: before.nodes[0].id, title: 'Count twice' });
  expect(after.nodes[1].children[0].id).toBe(before.nodes[0].children[0].id);
  const pushed = await read('sop.json');
  expect(pushed.nodes[0].lineage_id).toBe(after.nodes[0].lineage_id);

  await write('sop.json', { ...pushed, nodes: [{ ...pushed.nodes[1], title: 'Count again' }] });
  expect(await sync('push', '--revise')).toMatchObject({ code: 0, files: { 'sop.json': 'revised' } });
  const revision = await get((await read('sop.json')).id);
  expect(revision.nodes[0]).toMatchObject({ title: 'Count again', lineage_id: before.nodes[0].lineage_id });
  expect(revision.nodes[0].children[0].lineage_id).toBe(before.nodes[0].children[0].lineage_id);
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'unchanged' } });
});

test('a pull adds the ids of nodes to a file without them', async () => {
  await createDocument(pds.app, admin.key, { title: 'SOP', nodes: tree });
  await sync('pull');
  const file = await read('sop.json');
  const old = { ...file, nodes: removeLineage(file.nodes) };
  await write('sop.json', old);
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'edited' } });
  const bases = await read('.pds.json');
  const { id, ...content } = old;
  await write('.pds.json', { [id]: { ...bases[id], checksum: toChecksum(content) } });
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'pulled' } });
  expect(await read('sop.json')).toEqual(file);
});

test('neither side is overwritten if both have changed', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  await patch(id, { version: 'theirs' });
  await write('sop.json', { ...(await read('sop.json')), version: 'mine' });
  expect(await sync('push')).toMatchObject({ code: 5, files: { 'sop.json': 'conflict' } });
  expect(await sync('pull')).toMatchObject({ code: 5, files: { 'sop.json': 'conflict' } });
  expect([(await get(id)).version, (await read('sop.json')).version]).toEqual(['theirs', 'mine']);

  expect(await sync('push', '--force')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  expect((await get(id)).version).toBe('mine');
  await patch(id, { version: 'theirs' });
  await write('sop.json', { ...(await read('sop.json')), version: 'mine again' });
  expect(await sync('pull', '--force')).toMatchObject({ code: 0, files: { 'sop.json': 'pulled' } });
  expect((await read('sop.json')).version).toBe('theirs');
});

test('a pull leaves a file that only the user has changed', async () => {
  await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  await write('sop.json', { ...(await read('sop.json')), version: 'mine' });
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'edited' } });
  expect((await read('sop.json')).version).toBe('mine');
});

test('without a record of a pull, a changed file is a conflict', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await write('sop.json', { id, title: 'Mine' });
  const { code, results } = await sync('push');
  expect([code, results[0]?.message]).toEqual([5, expect.stringContaining('no record of a pull')]);
  await write('sop.json', { id, title: 'SOP', language: (await get(id)).language });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'unchanged' } });
  await rm(path('.pds.json'));
  await write('sop.json', { id, title: 'Mine' });
  expect((await sync('push')).code).toBe(5);
});

test('a published document changes only through a revision', async () => {
  const { id } = await publishDocument(pds.app, admin.key, { title: 'SOP', version: '1', nodes: tree });
  await sync('pull');
  await write('sop.json', { ...(await read('sop.json')), version: '2' });
  const { code, results } = await sync('push');
  expect([code, results[0]?.message]).toEqual([1, expect.stringContaining('--revise')]);
  expect(await sync('push', '--revise', '--publish')).toMatchObject({
    code: 0,
    files: { 'sop.json': 'revised' },
  });
  const revision = await read('sop.json');
  expect(revision.id).not.toBe(id);
  expect(await get(revision.id)).toMatchObject({ status: 'published', version: '2', parent_doc_id: id });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'unchanged' } });
});

test('a write that fails halfway can be pushed again', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  await write('sop.json', { ...(await read('sop.json')), version: 'x'.repeat(65), nodes: tree });
  const { code, results } = await sync('push');
  expect([code, results[0]?.message]).toEqual([1, expect.stringContaining('body/version')]);
  expect((await get(id)).nodes).toHaveLength(1);
  await write('sop.json', { ...(await read('sop.json')), version: '2' });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  expect(await get(id)).toMatchObject({ version: '2' });
});

test('a rejected file does not stop the others', async () => {
  await write('a.json', { title: '' });
  await write('b.json', { title: 'B' });
  await write('c.json', { id: '01a20c95-77f3-77bb-8eb4-65b6788708f8', title: 'C' });
  const { code, files } = await sync('push');
  expect([code, files]).toEqual([1, { 'a.json': 'failed', 'b.json': 'created', 'c.json': 'failed' }]);
});

test('a rejected key ends a push at once', async () => {
  await write('a.json', { title: 'A' });
  await write('b.json', { title: 'B' });
  const revoked = { ...env, PDS_KEY: `${env.PDS_KEY}x` };
  const { code, stdout, stderr } = await pds.run(['push', '.'], { env: revoked, cwd: folder });
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toContain('Run `pds login`');
});

test('files of documents with one title have different names', async () => {
  for (const _ of [1, 2]) await createDocument(pds.app, admin.key, { title: 'SOP' });
  await writeFile(path('sop.md'), 'my own notes');
  const { files } = await sync('pull');
  expect(Object.keys(files).every((name) => /^sop-[0-9a-f]{12}\.json$/.test(name))).toBe(true);
  expect(Object.keys(files)).toHaveLength(2);
  expect(await readFile(path('sop.md'), 'utf8')).toBe('my own notes');
});
