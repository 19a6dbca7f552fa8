/** Tests HTML files over HTTP with a real MongoDB: status codes, states, pictures, limits. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import mongoose from 'mongoose';
import {
  type AnyJson,
  createDocument,
  must,
  type Person,
  publishDocument,
  register,
  type TestApp,
} from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { exportTestApp } from './testing/test-app.ts';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
});
afterAll(() => app?.stop());

const exportHtml = (
  id: string,
  { query = '', ...options }: { query?: string; as?: string; headers?: object } = {},
) => app.request('GET', `/documents/${id}/export/html${query}`, { as: ada.key, ...options } as object);

async function read(id: string): Promise<string> {
  const { status, bytes } = await exportHtml(id);
  expect(status).toBe(200);
  return Buffer.from(bytes).toString();
}

const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
const text = (value: string) => ({ type: 'text', text: value });
const section = (...content: object[]) => ({
  node_type: 'section',
  title: 'One',
  content: { type: 'doc', content },
});

test('the file is an attachment with a name, an ETag and 304', async () => {
  const { id } = await createDocument(app, ada.key, { title: 'Open: the vault?', version: '2' });
  const { status, headers } = await exportHtml(id);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const getName = (value: Headers) => parse(value.get('content-disposition') ?? '').parameters.filename;
  expect(getName(headers)).toBe('Open- the vault-.html');
  expect(getName((await exportHtml(id, { query: '?versioned=true' })).headers)).toBe(
    'Open- the vault- 2.html',
  );
  const etag = headers.get('etag') ?? '';
  expect(await exportHtml(id, { headers: { 'if-none-match': etag } })).toMatchObject({ status: 304 });
  await must(app, 'PATCH', `/documents/${id}`, { as: ada.key, body: { title: 'Closed' } });
  expect((await exportHtml(id, { headers: { 'if-none-match': etag } })).status).toBe(200);
});

test('other organizations and unknown ids get 404', async () => {
  const { id } = await createDocument(app, ada.key, { title: 'Till' });
  const other = await register(app);
  expect((await exportHtml(id, { as: other.key })).status).toBe(404);
  expect((await exportHtml('01a20c95-77f3-77bb-8eb4-65b6788708f8')).status).toBe(404);
});

test('the file names the status of a draft and an archived document', async () => {
  const { id } = await createDocument(app, ada.key, { title: 'Till', language: 'de' });
  expect(await read(id)).toContain('<dt>Status</dt><dd>Entwurf</dd>');
  await must(app, 'POST', `/documents/${id}/publish`, { as: ada.key });
  expect(await read(id)).not.toContain('<dt>Status</dt>');
  await must(app, 'POST', `/documents/${id}/archive`, { as: ada.key });
  expect(await read(id)).toContain('<dt>Status</dt><dd>Archiviert</dd>');
});

test('the file of a published document has the words of its public page', async () => {
  const as = ada.key;
  const settings = { show_control: true };
  await must(app, 'PATCH', '/organization', { as: ada.token, body: { settings } });
  const nodes = [section(paragraph(text('Count the notes.'))), { node_type: 'section', title: 'Two' }];
  const { id } = await publishDocument(app, as, {
    title: 'Till',
    version: '3',
    department: 'Branches',
    nodes,
  });
  const body = { reviewer_id: ada.userId, every_months: 12 };
  await must(app, 'PATCH', `/documents/${id}/review`, { as: ada.token, body });
  const approval = { id: ada.userId, status: 'approved', approved_at: new Date() };
  await app.db.collection<{ _id: string }>('documents').updateOne({ _id: id }, { $set: { approval } });
  const { org_slug, token } = await must(app, 'POST', `/documents/${id}/share-token`, { as });
  const page = await fetch(`${app.origin}/embed/${org_slug}/${token}?format=html`);
  const getMain = (html: string) => /<main[\s\S]*<\/main>/.exec(html)?.[0];
  const html = await read(id);
  for (const fact of ['Approved on', 'Next review by']) expect(html).toContain(fact);
  expect(getMain(html)).toBe(getMain(await page.text()));
  await must(app, 'POST', `/documents/${id}/archive`, { as });
  expect(await read(id)).not.toMatch(/Approved on|Next review by/);
});

test('uploaded pictures are in the file, also in the rows of a table', async () => {
  const body = new FormData();
  const bytes = new Uint8Array(encodePng(30, 20, () => [205, 74, 125, 255]));
  body.append('file', new Blob([bytes]), 'plan.png');
  const { src, id: assetId } = await must(app, 'POST', '/assets', { as: ada.key, body });
  const stored = (await app.request('GET', `/assets/${assetId}`, { as: ada.key })).bytes;
  const image = { type: 'image', attrs: { src, alt: 'The plan' } };
  const row = { type: 'tableRow', content: [{ type: 'tableCell', content: [paragraph(image)] }] };
  const nodes = [section(image, { type: 'table', content: [row] })];
  const { id } = await createDocument(app, ada.key, { title: 'Plans', nodes });
  const html = await read(id);
  const uri = `data:image/png;base64,${Buffer.from(stored).toString('base64')}`;
  expect(html.split(`<img src="${uri}" alt="The plan" width="30" height="20"/>`)).toHaveLength(3);
  expect(html).not.toContain('asset:');
});

test('each place of a picture counts towards the 64 MiB of a file', async () => {
  const { organizationId: organization_id } = ada;
  const asset_id = randomBytes(32).toString('hex');
  const key = { _id: `${organization_id}/${asset_id}`, organization_id, asset_id, media_type: 'image/png' };
  const png = Buffer.concat([encodePng(2, 2, () => [0, 0, 0, 255]), Buffer.alloc(10 * 2 ** 20)]);
  const insert = (name: string, row: object) =>
    app.db.collection<{ _id: string }>(name).insertOne(row as { _id: string });
  await insert('assets', { ...key, width: 2, height: 2 });
  await insert('asset_files', { ...key, bytes: new mongoose.mongo.Binary(png) });
  const image = { type: 'image', attrs: { src: `asset:${asset_id}`, alt: 'The plan' } };
  const create = (count: number) =>
    createDocument(app, ada.key, { title: 'Plans', nodes: [section(...Array(count).fill(image))] });
  // the test client scans each response, which takes too much memory for these
  const fetchHtml = ({ id }: { id: string }) =>
    fetch(`${app.origin}/api/v1/documents/${id}/export/html`, {
      headers: { authorization: `Bearer ${ada.key}` },
    });
  const small = await fetchHtml(await create(6));
  expect(small.status).toBe(200);
  expect((await small.arrayBuffer()).byteLength).toBeGreaterThan(80 * 10 ** 6);
  const large = await create(7);
  const refused = await fetchHtml(large);
  expect(refused.status).toBe(400);
  const problem = (await refused.json()) as AnyJson;
  expect(problem.code).toBe('export_too_large');
  expect(problem.detail).toContain('64 MiB');
  // Word contains the picture once
  const word = await app.request('GET', `/documents/${large.id}/export/word?template_id=default`, {
    as: ada.key,
  });
  expect(word.status).toBe(200);
});
