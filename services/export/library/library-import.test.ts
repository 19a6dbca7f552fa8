/** Tests that a library can be imported again, over HTTP with a real MongoDB, and which archives are rejected. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import PizZip from 'pizzip';
import { type AnyJson, createDocument, must, type Person, register, type TestApp } from '#libs/testing';
import { createRandom, hostileText, hostileTree } from '../../../tests/rich-text/hostile.ts';
import { uploadPicture } from '../testing/picture-upload.ts';
import { exportTestApp } from '../testing/test-app.ts';

let app: TestApp;
/** The archive of an organization with some documents and pictures. */
let archive: Uint8Array;
let exported: AnyJson[];

const random = createRandom(28);
const toTitle = () => `${hostileText(random).replace(/\s+/g, ' ').trim()} x`.slice(0, 80).toWellFormed();

beforeAll(async () => {
  ({ app } = await exportTestApp());
  const author = await register(app);
  const [png, jpeg] = [
    await uploadPicture(app, author.key, 'rgba.png'),
    await uploadPicture(app, author.key, 'plain.jpg'),
  ];
  const image = ({ src }: { src: string }) => ({ type: 'image', attrs: { src, alt: 'A “plan”' } });
  const shown = { type: 'doc', content: [image(png), image(jpeg), image(png)] };
  const first = await createDocument(app, author.key, {
    ...{ title: 'Till', version: '2.1', department: 'Branches', language: 'de' },
    nodes: [{ node_type: 'section', title: 'Plans', content: shown }],
  });
  const second = await createDocument(app, author.key, { title: 'Empty' });
  const hostile = [];
  for (let at = 0; at < 20; at += 1)
    hostile.push(await createDocument(app, author.key, createHostileDocument()));
  // the manifest has the content hash of published documents
  for (const { id } of [first, second, ...hostile.slice(10)])
    await must(app, 'POST', `/documents/${id}/publish`, { as: author.key });
  await must(app, 'POST', `/documents/${second.id}/archive`, { as: author.key });
  archive = await download(author);
  exported = readManifest(archive).documents;
});
afterAll(() => app?.stop());

/** The service rejects halves of characters. */
const toWellFormed = (tree: object) =>
  JSON.parse(JSON.stringify(tree), (_name, value) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  );

function createHostileDocument(): object {
  const node = (node_type: string, children: object[]) => ({
    ...{ node_type, title: toTitle(), children },
    content: random.below(3) === 0 ? null : toWellFormed(hostileTree(random)),
  });
  const many = (create: () => object) => Array.from({ length: random.below(3) }, create);
  const step = () =>
    node(
      'step',
      many(() => node('sub_step', [])),
    );
  return {
    title: toTitle(),
    version: toTitle().slice(0, 60),
    nodes: many(() => node('section', many(step))),
  };
}

async function download({ key }: Person): Promise<Uint8Array> {
  const { status, bytes } = await app.request('GET', '/exports/library', { as: key });
  expect(status).toBe(200);
  return bytes;
}

const readManifest = (bytes: Uint8Array) =>
  JSON.parse(new PizZip(bytes).file('manifest.json')?.asText() ?? '');

/** The texts of all documents, and the pictures by path. */
function readContents(bytes: Uint8Array) {
  const zip = new PizZip(bytes);
  const list = (pattern: RegExp) => Object.keys(zip.files).filter((name) => pattern.test(name));
  return {
    documents: list(/document\.json$/)
      .map((name) => zip.file(name)?.asText())
      .sort(),
    pictures: list(/^assets\//)
      .sort()
      .map((name) => [name, Buffer.from(zip.file(name)?.asUint8Array() ?? []).toString('base64')]),
  };
}

function upload(as: string, bytes: Uint8Array, operation = '/imports') {
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(bytes)]), 'library.zip');
  return app.request('POST', operation, { as, body });
}

test('export, import and export give the same documents and pictures', async () => {
  const reader = await register(app);
  const { status, body } = await upload(reader.key, archive);
  expect([status, body.report]).toEqual([
    201,
    expect.objectContaining({ format: 'library', documents: 22, pictures: 2, dropped: [], warnings: [] }),
  ]);
  expect(new Set(body.documents.map(({ status }: AnyJson) => status))).toEqual(new Set(['draft']));
  expect(new Set(body.documents.map(({ created_by }: AnyJson) => created_by))).toEqual(
    new Set([reader.userId]),
  );
  expect(readContents(await download(reader))).toEqual(readContents(archive));
  const [till] = body.documents;
  expect(till).toMatchObject({ title: 'Till', version: '2.1', department: 'Branches', language: 'de' });
  const published = await must(app, 'POST', `/documents/${till.id}/publish`, { as: reader.key });
  expect(published.content_hash).toBe(exported[0].content_hash);
});

test('a document that was edited after its publication is imported', async () => {
  const [author, reader] = [await register(app), await register(app)];
  const nodes = [{ node_type: 'section', title: 'A' }];
  for (const edit of ['title', 'node']) {
    const { id } = await createDocument(app, author.key, { title: edit, nodes });
    await must(app, 'POST', `/documents/${id}/publish`, { as: author.key });
    if (edit === 'title')
      await must(app, 'PATCH', `/documents/${id}`, { as: author.key, body: { title: 'Changed' } });
    else
      await must(app, 'POST', `/documents/${id}/nodes`, {
        ...{ as: author.key, status: 201, body: { node_type: 'section', title: 'B', order: 1 } },
      });
  }
  const { status, body } = await upload(reader.key, await download(author));
  expect([status, body.documents?.length]).toEqual([201, 2]);
});

test('a preview returns the bodies that create the same documents', async () => {
  const reader = await register(app);
  const { status, body } = await upload(reader.key, archive, '/imports/preview');
  expect([status, body.documents.length, body.report.format]).toEqual([200, 22, 'library']);
  for (const document of body.documents) await createDocument(app, reader.key, document);
  expect(readContents(await download(reader))).toEqual(readContents(archive));
});

/** Returns the archive with changed files; null deletes one. */
function change(changes: (manifest: AnyJson) => Record<string, string | Uint8Array | null>): Uint8Array {
  const zip = new PizZip(archive);
  const manifest = readManifest(archive);
  for (const [name, content] of Object.entries(changes(manifest)))
    if (content === null) zip.remove(name);
    else zip.file(name, content);
  if (zip.file('manifest.json')) zip.file('manifest.json', JSON.stringify(manifest));
  return zip.generate({ type: 'uint8array', compression: 'DEFLATE' });
}

const setFields = (set: (manifest: AnyJson) => void) =>
  change((manifest) => {
    set(manifest);
    return {};
  });

const otherPicture = readFileSync(new URL('../../../tests/fixtures/pictures/grey.png', import.meta.url));

describe('a library is rejected and nothing is created', () => {
  test('a picture whose name and type are wrong', async () => {
    const bytes = change((manifest) => {
      const [png] = manifest.assets;
      const path = png.path.replace('.png', '.gif');
      const file = new PizZip(archive).file(png.path)?.asUint8Array() ?? null;
      const old = png.path;
      Object.assign(png, { path, media_type: 'image/gif' });
      return { [old]: null, [path]: file };
    });
    await expectRejected(bytes, 'bad_manifest', 'has changed');
  });

  test('an archive that was cut off', async () => {
    await expectRejected(archive.subarray(0, archive.length / 2), 'malformed', 'Download or create it again');
  });

  test.each([
    ['a missing document', ({ documents: [one] }) => ({ [one.path]: null }), 'document.json is missing'],
    ['a missing picture', ({ assets: [one] }) => ({ [one.path]: null }), 'is missing'],
    ['a changed picture', ({ assets: [one] }) => ({ [one.path]: 'GIF89a' }), 'has changed'],
    ['another picture in its place', ({ assets: [one] }) => ({ [one.path]: otherPicture }), 'has changed'],
    [
      'a published document with other words',
      ({ documents: [one] }) => ({
        [one.path]: new PizZip(archive).file(one.path)?.asText().replace('"Till"', '"Tills"') ?? null,
      }),
      'document.json has changed',
    ],
    ['a document that is no JSON', ({ documents: [one] }) => ({ [one.path]: '{' }), 'is not JSON'],
  ] as [string, Parameters<typeof change>[0], string][])('%s', async (_name, changes, detail) => {
    await expectRejected(change(changes), 'bad_manifest', detail);
  });

  test.each([
    ['a newer version', (manifest) => Object.assign(manifest, { version: 2 }), 'version'],
    ['another format', (manifest) => Object.assign(manifest, { format: 'zip' }), 'format'],
    ['no list of documents', (manifest) => delete manifest.documents, 'documents'],
    ['another path', ({ documents: [one] }) => (one.path = 'manifest.json'), 'documents/0/path'],
    ['a path that leaves the archive', ({ documents: [one] }) => (one.id = '../..'), 'documents/0/id'],
    ['a repeated document', ({ documents }) => documents.push(documents[0]), 'repeated'],
    ['a repeated picture', ({ assets }) => assets.push(assets[0]), 'repeated'],
    ['a picture of another type', ({ assets: [one] }) => (one.media_type = 'image/gif'), 'assets/0/path'],
    ['a path outside of the folder', ({ assets: [one] }) => (one.path = `../${one.path}`), 'assets/0/path'],
    ['a picture that is not listed', ({ assets }) => assets.pop(), 'no such picture'],
  ] as [string, (manifest: AnyJson) => void, string][])('%s', async (_name, set, detail) => {
    await expectRejected(setFields(set), 'bad_manifest', detail);
  });

  test.each([
    ['an unknown field', { title: 'A', owner: 'B' }, 'owner'],
    ['a step without a section', { title: 'A', nodes: [{ node_type: 'step', title: 'B' }] }, 'nodes/0'],
    ['an empty title', { title: '' }, 'title'],
    ['half of a character', { title: 'A\ud83d' }, 'document.json/title: Must be valid Unicode'],
  ])('%s', async (_name, document, detail) => {
    const bytes = change(({ documents: [one] }) => ({ [one.path]: JSON.stringify(document) }));
    await expectRejected(bytes, 'malformed', detail);
  });

  async function expectRejected(bytes: Uint8Array, reason: string, detail: string): Promise<void> {
    const { key } = await register(app);
    const { status, body } = await upload(key, bytes);
    expect([status, body.code, body.reason]).toEqual([400, 'import_invalid', reason]);
    expect(body.detail).toContain(detail);
    expect(await must(app, 'GET', '/documents', { as: key })).toEqual([]);
  }
});

test('a library has at most 32 MiB of text', async () => {
  const { key } = await register(app);
  const template = { ...exported[0], content_hash: null };
  const bytes = change((manifest) => {
    const documents: AnyJson[] = Array.from({ length: 35 }, (_, at) => {
      const id = template.id.slice(0, -4) + at.toString(16).padStart(4, '0');
      return { ...template, id, path: `documents/${id}/document.json` };
    });
    manifest.documents = documents;
    return Object.fromEntries(documents.map(({ path }) => [path, JSON.stringify(createLongDocument())]));
  });
  const { status, body } = await upload(key, bytes);
  expect([status, body.code]).toEqual([400, 'import_too_large']);
});

/** A document with 1 MB of text in three nodes, which compresses well enough for an upload. */
function createLongDocument(): object {
  const text = randomBytes(5_000).toString('hex').repeat(34);
  const content = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] };
  const node = { node_type: 'section', title: 'Long', content };
  return { title: 'Long', nodes: [node, node, node] };
}

test('a library has at most 500 documents and 10,000 nodes', async () => {
  const { key } = await register(app);
  const template = { ...exported[0], content_hash: null };
  const id = (at: number) => template.id.slice(0, -4) + at.toString(16).padStart(4, '0');
  const create = (count: number, document: object) =>
    change((manifest) => {
      const paths = Array.from({ length: count }, (_, at) => `documents/${id(at)}/document.json`);
      manifest.documents = paths.map((path, at) => ({ ...template, path, id: id(at) }));
      return Object.fromEntries(paths.map((path) => [path, JSON.stringify(document)]));
    });
  const tooMany = await upload(key, create(501, { title: 'A' }));
  expect([tooMany.status, tooMany.body.code]).toEqual([400, 'import_too_large']);
  const nodes = Array.from({ length: 21 }, () => ({ node_type: 'section', title: 'S' }));
  const tooLarge = await upload(key, create(480, { title: 'A', nodes }));
  expect([tooLarge.status, tooLarge.body.code]).toEqual([400, 'import_too_large']);
  expect((await upload(key, create(500, { title: 'A', nodes: nodes.slice(1) }))).status).toBe(201);
});
