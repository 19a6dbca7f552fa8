/** Tests the export of a library over HTTP with a real MongoDB. */
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import PizZip from 'pizzip';
import { createDocument, must, type Person, register, type TestApp, until } from '#libs/testing';
import { uploadPicture } from '../testing/picture-upload.ts';
import { exportTestApp } from '../testing/test-app.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  // two archives compete for one worker, without a queue
  ({ app, ada } = await exportTestApp({ EXPORT_MAX_QUEUE: '0', EXPORT_MAX_DOCUMENT_MB: '5' }));
});
afterAll(() => app?.stop());

const toContent = (text: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
});
const sample = {
  title: 'Opening / the <vault>',
  version: '2.1',
  department: 'Vault',
  nodes: [
    {
      node_type: 'section',
      title: 'Before',
      content: null,
      children: [
        {
          node_type: 'step',
          title: 'Key',
          content: toContent('Turn it “twice” \ud83d\udd11.'),
          children: [{ node_type: 'sub_step', title: 'Turn', content: null, children: [] }],
        },
        { node_type: 'step', title: 'Light', content: null, children: [] },
      ],
    },
    { node_type: 'section', title: 'After', content: null, children: [] },
  ],
};

const path = (query = '') => `/api/v1/exports/library${query}`;
const open = (as: string, query = '') =>
  fetch(app.origin + path(query), { headers: { authorization: `Bearer ${as}` } });

/** Downloads an archive. Returns the parsed manifest, and readers of a file's text and bytes. */
async function download(as: string, query = '') {
  const response = await open(as, query);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const zip = new PizZip(await response.arrayBuffer());
  const read = (name: string) => zip.file(name)?.asText() ?? '';
  const readBytes = (name: string) => zip.file(name)?.asUint8Array() ?? new Uint8Array();
  const names = Object.keys(zip.files);
  expect(names.at(-1)).toBe('manifest.json');
  return { manifest: JSON.parse(read('manifest.json')), names, read, readBytes, headers: response.headers };
}

test('the archive has each document as JSON and as Markdown', async () => {
  const { key } = await register(app);
  const { id } = await createDocument(app, key, sample);
  const { manifest, names, read } = await download(key);
  const folder = `documents/${id}`;
  expect(names).toEqual([`${folder}/document.json`, `${folder}/document.md`, 'manifest.json']);
  expect(JSON.parse(read(`${folder}/document.json`))).toEqual(sample);
  const markdown = await app.request('GET', `/documents/${id}/export/markdown`, { as: key });
  expect(read(`${folder}/document.md`)).toBe(Buffer.from(markdown.body).toString());
  expect(manifest).toMatchObject({ format: 'pds-library', version: 1, assets: [] });
  expect(manifest.documents).toMatchObject([
    { path: `${folder}/document.json`, id, parent_doc_id: null, status: 'draft', content_hash: null },
  ]);
});

test('a document that is too large for Markdown is in the archive as JSON', async () => {
  const { key } = await register(app);
  const text = 'x'.repeat(500_000);
  const nodes = Array.from({ length: 11 }, () => ({
    ...{ node_type: 'section', title: 'Large', content: toContent(text), children: [] },
  }));
  const large = await createDocument(app, key, { title: 'Large', nodes });
  const small = await createDocument(app, key, sample);
  const markdown = await app.request('GET', `/documents/${large.id}/export/markdown`, { as: key });
  expect(markdown.status).toBe(400);
  const { manifest, names, read } = await download(key);
  const paths = [large, small].map(({ id }) => `documents/${id}/document.json`);
  expect(names).toEqual([...paths, `documents/${small.id}/document.md`, 'manifest.json']);
  expect(JSON.parse(read(paths[0] ?? '')).nodes).toEqual(nodes);
  expect(manifest.documents.map(({ path }: { path: string }) => path)).toEqual(paths);
});

test('the archive has each picture once, and the manifest lists it', async () => {
  const { key } = await register(app);
  const upload = (name: string) => uploadPicture(app, key, name);
  const [png, jpeg] = [await upload('rgba.png'), await upload('plain.jpg')];
  await upload('plain.gif');
  const show = (...pictures: { src: string }[]) => ({
    node_type: 'section',
    title: 'Pictures',
    content: { type: 'doc', content: pictures.map(({ src }) => ({ type: 'image', attrs: { src } })) },
  });
  const first = await createDocument(app, key, { title: 'One', nodes: [show(png, png), show(png)] });
  const second = await createDocument(app, key, { title: 'Two', nodes: [show(jpeg, png)] });
  const { manifest, names, readBytes } = await download(key);
  const paths = [`assets/${png.id}.png`, `assets/${jpeg.id}.jpg`];
  expect(names.filter((name) => !name.endsWith('.md'))).toEqual([
    ...[`documents/${first.id}/document.json`, paths[0]],
    ...[`documents/${second.id}/document.json`, paths[1], 'manifest.json'],
  ]);
  expect(manifest.assets).toEqual([
    { path: paths[0], id: png.id, media_type: 'image/png' },
    { path: paths[1], id: jpeg.id, media_type: 'image/jpeg' },
  ]);
  for (const { path, id } of manifest.assets)
    expect(createHash('sha256').update(readBytes(path)).digest('hex')).toBe(id);
});

test('document.json creates a document with the same content hash', async () => {
  const { key } = await register(app);
  const { id } = await createDocument(app, key, sample);
  const published = await must(app, 'POST', `/documents/${id}/publish`, { as: key });
  const { manifest, read } = await download(key);
  expect(manifest.documents[0]).toMatchObject({
    ...{ status: 'published', content_hash: published.content_hash, published_at: published.published_at },
  });
  const body = JSON.parse(read(manifest.documents[0].path));
  const copy = await must(app, 'POST', '/documents', { as: key, body });
  const again = await must(app, 'POST', `/documents/${copy.id}/publish`, { as: key });
  expect(again.content_hash).toBe(published.content_hash);
});

test('the file name has the name of the organization and the day', async () => {
  const { key } = await register(app);
  const { organization } = await must(app, 'GET', '/me', { as: key });
  const getName = () => `${organization.name} ${new Date().toISOString().slice(0, 10)}.zip`;
  const before = getName();
  const { headers } = await download(key);
  const { filename } = parse(headers.get('content-disposition') ?? '').parameters;
  // the day may end during the request
  expect([before, getName()]).toContain(filename);
});

test('status, department and time select documents', async () => {
  const { key } = await register(app);
  const create = (department: string) => createDocument(app, key, { title: 'One', department });
  const [vault, till] = [await create('Vault'), await create('Till')];
  await must(app, 'POST', `/documents/${till.id}/publish`, { as: key });
  const later = await must(app, 'GET', `/documents/${till.id}`, { as: key });
  const list = async (query: string) =>
    (await download(key, query)).manifest.documents.map((document: { id: string }) => document.id);
  expect(await list('')).toEqual([vault.id, till.id]);
  expect(await list('?status=draft')).toEqual([vault.id]);
  expect(await list('?status=draft&status=published')).toEqual([vault.id, till.id]);
  expect(await list('?department=Till')).toEqual([till.id]);
  expect(await list(`?updated_since=${later.updated_at}`)).toEqual([till.id]);
  expect(await list('?status=archived')).toEqual([]);
  for (const query of ['?status=lost', '?updated_since=yesterday'])
    expect((await open(key, query)).status).toBe(400);
});

test('the export is in the outbox before the archive is sent', async () => {
  const { key, organizationId } = await register(app);
  await download(key, '?status=archived');
  const outbox = app.db.collection('export_outbox');
  const [row] = await outbox.find({ type: 'library.exported' }).sort({ _id: -1 }).limit(1).toArray();
  expect(JSON.parse(row?.event)).toMatchObject({
    organization_id: organizationId,
    data: { status: ['archived'], department: null, updated_since: null },
  });
});

test('the archive contains only documents of the organization', async () => {
  const other = await register(app);
  await createDocument(app, other.key, sample);
  const { key } = await register(app);
  expect((await download(key)).manifest.documents).toEqual([]);
});

test('clients that disconnect early leave the export usable', async () => {
  const { key } = await register(app);
  const listOutcomes = () => app.logLines().filter(({ operation }) => operation === 'exportLibrary');
  const before = listOutcomes().length;
  const abort = () =>
    new Promise<void>((resolve) => {
      const sent = request(app.origin + path(), { headers: { authorization: `Bearer ${key}` } });
      sent.once('close', resolve).on('error', () => undefined);
      // before the response starts, which takes many round trips to MongoDB
      sent.end(() => sent.destroy());
    });
  for (let count = 1; count <= 2; count += 1) {
    await abort();
    await until('the outcome', async () => listOutcomes().length === before + count);
  }
  for (const { level, status } of listOutcomes().slice(before)) expect([level, status]).toEqual([30, 200]);
  expect((await download(key)).manifest.documents).toEqual([]);
});

test('a process writes two archives at a time, one for each organization', async () => {
  // more bytes than the buffers of a connection hold, which a zip archive cannot compress
  const nodes = Array.from({ length: 8 }, () => {
    const text = randomBytes(380_000).toString('base64');
    return { node_type: 'section', title: 'Large', content: toContent(text) };
  });
  const [other, third] = [await register(app), await register(app)];
  for (const { key } of [ada, other]) {
    const { id } = await createDocument(app, key, { title: 'Large', nodes });
    for (let count = 1; count < 6; count += 1)
      await must(app, 'POST', `/documents/${id}/duplicate`, { as: key });
  }
  const first = await open(ada.key);
  const again = await open(ada.key);
  expect([first.status, again.status, again.headers.get('retry-after')]).toEqual([200, 503, '30']);
  expect(await again.json()).toMatchObject({ detail: expect.stringContaining('of your organization') });
  const second = await open(other.key);
  const rejected = await open(third.key);
  expect([second.status, rejected.status, rejected.headers.get('retry-after')]).toEqual([200, 503, '30']);
  await first.body?.cancel();
  await second.arrayBuffer();
  await until('an archive can be exported again', async () => {
    const next = await open(ada.key);
    await next.arrayBuffer();
    return next.status === 200;
  });
});
