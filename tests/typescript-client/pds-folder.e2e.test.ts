/** Tests `pds pull` and `pds push` against real services: nothing that others or the user wrote is lost. */
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createDocument, must, type Person, publishDocument, tcpProxy } from '#libs/testing';
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
  const [paths, rest] = options[0]?.startsWith('-') === false ? [[], options] : [['.'], options];
  const args = [command, ...paths, '--json', ...rest];
  const { code, stdout, stderr } = await pds.run(args, { env, cwd: folder });
  if (stdout === '') throw new Error(stderr);
  const results: { file: string; outcome: string; message?: string }[] = JSON.parse(stdout);
  return { code, files: Object.fromEntries(results.map(({ file, outcome }) => [file, outcome])), results };
}

/** Runs a command whose requests with these bytes do not reach the service. */
async function syncBroken(bytes: string, command: 'pull' | 'push', ...options: string[]) {
  const [direct, proxy] = [env, await tcpProxy(pds.app.origin)];
  proxy.cutAfter(Buffer.from(bytes), 1_000);
  env = { ...env, PDS_URL: proxy.url };
  try {
    return await sync(command, ...options);
  } finally {
    env = direct;
    await proxy.close();
  }
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
  const { code, files, results } = await sync('push');
  expect([code, files]).toEqual([1, { 'a.json': 'failed', 'b.json': 'created', 'c.json': 'failed' }]);
  expect(results[2]?.message).toContain('does not exist');
});

test('a rejected key ends a push at once', async () => {
  await write('a.json', { title: 'A' });
  await write('b.json', { title: 'B' });
  const revoked = { ...env, PDS_KEY: `${env.PDS_KEY}x` };
  const { code, stdout, stderr } = await pds.run(['push', '.'], { env: revoked, cwd: folder });
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toContain('Run `pds login`');
});

test('a failed login shows no summary of a pull', async () => {
  const revoked = { ...env, PDS_KEY: `${env.PDS_KEY}x` };
  expect(await pds.run(['pull', '.'], { env: revoked, cwd: folder })).toMatchObject({ code: 3, stdout: '' });
});

test('a path that is not a folder is named', async () => {
  await writeFile(path('notes.txt'), 'x');
  const push = await pds.run(['push', 'notes.txt'], { env, cwd: folder });
  expect([push.code, push.stderr]).toEqual([1, expect.stringContaining('notes.txt is neither a folder nor')]);
  const pull = await pds.run(['pull', 'notes.txt'], { env, cwd: folder });
  expect([pull.code, pull.stderr]).toEqual([1, expect.stringContaining('a file has this name')]);
});

test('files of documents with one title have different names', async () => {
  for (const _ of [1, 2]) await createDocument(pds.app, admin.key, { title: 'SOP' });
  await writeFile(path('sop.md'), 'my own notes');
  const { files } = await sync('pull');
  expect(Object.keys(files).every((name) => /^sop-[0-9a-f]{12}\.json$/.test(name))).toBe(true);
  expect(Object.keys(files)).toHaveLength(2);
  expect(await readFile(path('sop.md'), 'utf8')).toBe('my own notes');
});

test('a pull keeps the Markdown file that a document was imported from', async () => {
  const source = '# Note\n\n![p](p.png)\n';
  await writeFile(path('note.md'), source);
  await writeFile(path('same.html'), '<h1>Same</h1>');
  expect((await sync('push')).files).toEqual({ 'note.md': 'created', 'same.html': 'created' });
  await writeFile(path('same.md'), '# My own');
  for (const name of ['note.json', 'same.json']) await patch((await read(name)).id, { department: 'Shop' });
  const pulled = { 'note.json': 'pulled', 'note.md': 'kept', 'same.json': 'pulled', 'same.md': 'kept' };
  const { code, files, results } = await sync('pull');
  expect([code, files]).toEqual([0, pulled]);
  expect(results.find(({ file }) => file === 'note.md')?.message).toContain('so it stays');
  expect((await read('note.json')).department).toBe('Shop');
  expect((await sync('pull')).files).toEqual({ 'note.json': 'unchanged', 'same.json': 'unchanged' });

  await patch((await read('note.json')).id, { department: 'Office' });
  await sync('pull', '--force');
  expect(await readFile(path('note.md'), 'utf8')).toBe(source);
  expect(await readFile(path('same.md'), 'utf8')).toBe('# My own');

  await rename(path('note.md'), path('moved.md'));
  expect((await sync('pull')).files).toMatchObject({ 'note.json': 'pulled' });
  expect(await readFile(path('note.md'), 'utf8')).toContain('Office');
});

test('a pull keeps a changed Markdown copy, also with --force', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  const copy = await readFile(path('sop.md'), 'utf8');
  await writeFile(path('sop.md'), `${copy}My remark`);
  await patch(id, { version: '2' });
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'pulled', 'sop.md': 'kept' } });
  expect(await readFile(path('sop.md'), 'utf8')).toBe(`${copy}My remark`);
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'unchanged' });

  await patch(id, { version: '3' });
  expect((await sync('pull', '--force')).files).toEqual({ 'sop.json': 'pulled', 'sop.md': 'kept' });
  expect(await readFile(path('sop.md'), 'utf8')).toBe(`${copy}My remark`);
});

test('a pull updates a Markdown copy whose ends of lines Git has changed', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  const copy = await readFile(path('sop.md'), 'utf8');
  await writeFile(path('sop.md'), copy.replaceAll('\n', '\r\n'));
  await patch(id, { version: '3' });
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'pulled' });
  expect(await readFile(path('sop.md'), 'utf8')).toContain('Version 3');
});

test('a pull writes a deleted Markdown copy again', async () => {
  await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  await rm(path('sop.md'));
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'pulled' });
  expect(await readFile(path('sop.md'), 'utf8')).toContain('SOP');
  await write('sop.json', { ...(await read('sop.json')), version: 'mine' });
  await rm(path('sop.md'));
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'edited' });
});

test('a pull updates the Markdown copy of a renamed file and of a revision', async () => {
  const { id } = await publishDocument(pds.app, admin.key, { title: 'SOP', version: '1', nodes: tree });
  await sync('pull');
  for (const type of ['json', 'md']) await rename(path(`sop.${type}`), path(`till.${type}`));
  await write('till.json', { ...(await read('till.json')), version: '2' });
  expect((await sync('push', '--revise', '--publish')).files).toEqual({ 'till.json': 'revised' });
  const revision = (await read('till.json')).id;
  expect(revision).not.toBe(id);
  await must(pds.app, 'POST', `/documents/${revision}/archive`, { as: admin.key });
  expect((await sync('pull', '--status', 'archived')).files).not.toHaveProperty('till.md');
  expect(await readFile(path('till.md'), 'utf8')).toContain('Version 2');

  await writeFile(path('other.md'), 'my own notes');
  await rename(path('till.json'), path('other.json'));
  await sync('pull', '--status', 'archived', '--force');
  expect(await readFile(path('other.md'), 'utf8')).toBe('my own notes');
});

test('a pull after a push updates the Markdown copy', async () => {
  await createDocument(pds.app, admin.key, { title: 'SOP', nodes: tree });
  await sync('pull');
  await write('sop.json', { ...(await read('sop.json')), title: 'Renamed' });
  expect((await sync('push')).files).toEqual({ 'sop.json': 'updated' });
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'pulled' });
  expect(await readFile(path('sop.md'), 'utf8')).toContain('# Renamed');
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'unchanged' });

  await write('sop.json', { ...(await read('sop.json')), title: 'Renamed again' });
  await sync('push');
  await writeFile(path('sop.md'), 'my own notes');
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'unchanged' });
  expect(await readFile(path('sop.md'), 'utf8')).toBe('my own notes');
});

test('a pull without the record of a Markdown copy keeps the file', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP' });
  await sync('pull');
  const copy = await readFile(path('sop.md'), 'utf8');
  const { etag, checksum } = (await read('.pds.json'))[id];
  await write('.pds.json', { [id]: { etag, checksum } });
  await patch(id, { version: '2' });
  expect((await sync('pull', '--force')).files).toEqual({ 'sop.json': 'pulled', 'sop.md': 'kept' });
  expect(await readFile(path('sop.md'), 'utf8')).toBe(copy);
});

test('a push publishes a draft whose publishing failed before', async () => {
  await write('till.json', { title: ' Closing the till ', nodes: tree });
  await writeFile(path('shop.md'), '# Opening the shop\n\n## First\n\nUnlock.\n');
  const first = await syncBroken('/publish HTTP', 'push', '--publish');
  expect(first).toMatchObject({ code: 6, files: { 'till.json': 'failed' } });
  expect(first.results[0]).toMatchObject({
    id: (await read('till.json')).id,
    message: expect.stringContaining('The draft is saved, but not published'),
  });
  expect((await syncBroken('/publish HTTP', 'push', 'shop.md', '--publish')).files).toEqual({
    'shop.md': 'failed',
  });

  const drafts = { 'shop.json': 'unchanged', 'till.json': 'unchanged' };
  expect(await sync('push')).toMatchObject({ code: 0, files: drafts });
  expect(await sync('pull')).toMatchObject({ code: 0, files: { ...drafts, 'till.json': 'pulled' } });
  const published = { 'shop.json': 'published', 'till.json': 'published' };
  expect(await sync('push', '--publish', '--dry-run')).toMatchObject({ code: 0, files: published });
  expect(await sync('push', '--publish')).toMatchObject({ code: 0, files: published });
  expect((await get((await read('till.json')).id)).status).toBe('published');
  expect(await sync('push', '--publish')).toMatchObject({ code: 0, files: drafts });
});

test('a push does not publish the drafts of a push without --publish', async () => {
  await write('till.json', { title: 'Closing the till' });
  await sync('push');
  expect((await sync('push', '--publish')).files).toEqual({ 'till.json': 'unchanged' });
  expect((await get((await read('till.json')).id)).status).toBe('draft');
});

test('a draft that others have published after a failure is unchanged', async () => {
  await write('till.json', { title: 'Closing the till' });
  await syncBroken('/publish HTTP', 'push', '--publish');
  const { id } = await read('till.json');
  await must(pds.app, 'POST', `/documents/${id}/publish`, { as: admin.key });
  await sync('pull');
  expect(await sync('push', '--publish')).toMatchObject({ code: 0, files: { 'till.json': 'unchanged' } });
});

test('a file that two paths lead to is pushed once', async () => {
  await write('till.json', { title: 'Closing the till' });
  await writeFile(path('shop.md'), '# Opening the shop\n');
  await symlink(folder, path('link'));
  const { code, results } = await sync('push', '.', 'till.json', 'shop.md', './link/till.json');
  expect([code, results.map(({ outcome }) => outcome)]).toEqual([0, ['created', 'created']]);
  expect(await must(pds.app, 'GET', '/documents', { as: admin.key })).toHaveLength(2);
});

test('publishing and reviews are no conflict with an edited file', async () => {
  await write('sop.json', { title: ' SOP ', version: '1', language: 'pt-br', nodes: tree });
  await sync('push');
  const { id, ...file } = await read('sop.json');
  expect(file).toMatchObject({ title: 'SOP', language: 'pt-BR' });
  await write('sop.json', { id, ...file, version: '2', language: 'de-at' });
  await sync('push');
  expect(await read('sop.json')).toMatchObject({ version: '2', language: 'de-AT' });
  await must(pds.app, 'POST', `/documents/${id}/publish`, { as: admin.key });
  await must(pds.app, 'PATCH', `/documents/${id}/review`, { as: admin.key, body: { every_months: 12 } });
  await write('sop.json', { ...(await read('sop.json')), version: '3' });
  expect(await sync('pull')).toMatchObject({ code: 0, files: { 'sop.json': 'edited' } });
  expect(await sync('push', '--revise')).toMatchObject({ code: 0, files: { 'sop.json': 'revised' } });
  expect(await get((await read('sop.json')).id)).toMatchObject({ version: '3', parent_doc_id: id });
});

test('a file of a replaced version is no conflict, because it cannot change', async () => {
  const { id } = await publishDocument(pds.app, admin.key, { title: 'SOP', version: '1' });
  await sync('pull');
  const draft = await must(pds.app, 'POST', `/documents/${id}/revise`, { as: admin.key });
  await must(pds.app, 'POST', `/documents/${draft.id}/publish`, { as: admin.key });
  await write('sop.json', { ...(await read('sop.json')), version: '2' });
  const { code, results } = await sync('push');
  expect([code, results[0]?.message]).toEqual([1, expect.stringContaining('is archived')]);
});

test('an edit after a pull that ended before its copy is no conflict', async () => {
  const { id } = await createDocument(pds.app, admin.key, { title: 'SOP', version: '1' });
  await sync('pull');
  await patch(id, { version: '2' });
  await syncBroken('/export/markdown', 'pull').catch(() => {});
  expect((await read('sop.json')).version).toBe('2');
  await write('sop.json', { ...(await read('sop.json')), department: 'Shop' });
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.json': 'updated' } });
  await patch(id, { version: '3' });
  await syncBroken('/export/markdown', 'pull').catch(() => {});
  expect((await sync('pull')).files).toEqual({ 'sop.json': 'unchanged' });
  expect(await readFile(path('sop.md'), 'utf8')).toContain('Version 3');
});

test('a push does not import the copies of pull without their JSON files', async () => {
  await createDocument(pds.app, admin.key, { title: 'SOP', nodes: tree });
  await sync('pull');
  await rename(path('sop.json'), path('renamed.json'));
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'renamed.json': 'unchanged' } });
  await rm(path('renamed.json'));
  const copy = await readFile(path('sop.md'), 'utf8');
  await writeFile(path('sop.md'), copy.replaceAll('\n', '\r\n'));
  expect(await sync('push', '--publish')).toEqual({ code: 0, files: {}, results: [] });
  const { code, results } = await sync('push', 'sop.md');
  expect([code, results[0]?.message]).toEqual([1, expect.stringContaining('`pds import` creates')]);
  expect(await must(pds.app, 'GET', '/documents', { as: admin.key })).toHaveLength(1);

  await writeFile(path('sop.md'), `${copy}My own text\n`);
  expect(await sync('push')).toMatchObject({ code: 0, files: { 'sop.md': 'created' } });
});

test('a pulled document does not hide a file that waits for its import', async () => {
  for (const title of ['Lock-up', 'Till', 'Shop']) await createDocument(pds.app, admin.key, { title });
  await writeFile(path('lock-up.html'), '<h1>Other</h1>');
  await writeFile(path('TILL.markdown'), '# Other');
  const { files } = await sync('pull');
  expect(Object.keys(files).sort()).toEqual([
    expect.stringMatching(/^lock-up-[0-9a-f]{12}\.json$/),
    'shop.json',
    expect.stringMatching(/^till-[0-9a-f]{12}\.json$/),
  ]);
  await rename(path('shop.json'), path('shop.JSON'));
  await writeFile(path('shop.htm'), '<h1>Shop</h1>');
  expect(await sync('push')).toMatchObject({
    code: 0,
    files: { 'TILL.markdown': 'created', 'lock-up.html': 'created', 'shop.JSON': 'unchanged' },
  });
  expect(await must(pds.app, 'GET', '/documents', { as: admin.key })).toHaveLength(5);
});
