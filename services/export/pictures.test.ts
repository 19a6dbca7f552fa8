/** Tests uploaded pictures in exported files over HTTP with a real MongoDB. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { unpack } from '#libs/opc';
import { type AnyJson, must, type Person, type TestApp } from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { exportTestApp } from './testing/test-app.ts';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
});
afterAll(() => app?.stop());

const bytes = new Uint8Array(encodePng(300, 200, (x) => [x < 150 ? 11 : 205, 74, 125, 255]));
const dataUri = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;

async function upload(): Promise<AnyJson> {
  const body = new FormData();
  body.append('file', new Blob([bytes]), 'plan.png');
  return must(app, 'POST', '/assets', { as: ada.key, body });
}

/** Creates a document with an image of each source, in places that limit its size, and enough text for contents. */
async function create(...sources: string[]): Promise<string> {
  const image = (src: string, attrs = {}) => ({ type: 'image', attrs: { src, alt: 'The plan', ...attrs } });
  const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
  const cell = (...content: object[]) => ({ type: 'tableRow', content: [{ type: 'tableCell', content }] });
  const content = sources.flatMap((src) => [
    image(src, { title: 'Caption' }),
    paragraph({ type: 'text', text: 'A ' }, image(src, { width: 100 })),
    { type: 'table', content: [cell(paragraph(image(src)), paragraph(image(src, { height: 20 })))] },
  ]);
  const section = { node_type: 'section', title: 'One', content: { type: 'doc', content } };
  const nodes = Array.from({ length: 9 }, () => section);
  return (await must(app, 'POST', '/documents', { as: ada.key, body: { title: 'Plans', nodes } })).id;
}

const exportFile = (id: string, query: string) =>
  app.request('GET', `/documents/${id}/export/${query}`, { as: ada.key });

/** Returns the parts of the Word file, without those that name the document. */
async function exportParts(id: string): Promise<Map<string, string>> {
  const { status, bytes: file } = await exportFile(id, 'word?template_id=default');
  expect(status).toBe(200);
  const parts = [...(await unpack(file))].filter(([name]) => !name.startsWith('docProps/'));
  return new Map(parts.map(([name, part]) => [name, Buffer.from(part).toString('latin1')]));
}

test('a Word file shows an uploaded picture as it shows an embedded one', async () => {
  const { src } = await upload();
  const [uploaded, embedded] = [
    await exportParts(await create(src)),
    await exportParts(await create(dataUri)),
  ];
  expect([...uploaded.keys()].sort()).toEqual([...embedded.keys()].sort());
  for (const [name, part] of embedded) expect({ name, part: uploaded.get(name) }).toEqual({ name, part });
  const media = [...uploaded].filter(([name]) => name.includes('media/export-'));
  expect(media.map(([, part]) => part)).toEqual([Buffer.from(bytes).toString('latin1')]);
  expect(uploaded.get('word/document.xml')?.match(/<w:drawing>/g)).toHaveLength(36);
});

test('Markdown shows the alternative text of an uploaded picture', async () => {
  const id = await create((await upload()).src);
  for (const flavor of ['plain', 'gfm']) {
    const { bytes: text } = await exportFile(id, `markdown?flavor=${flavor}`);
    expect(Buffer.from(text).toString()).toContain('The plan');
    expect(Buffer.from(text).toString()).not.toContain('asset:');
  }
});

test('a Word file reads at most 64 MiB of pictures', async () => {
  const { organizationId: organization_id } = ada;
  const ids = Array.from({ length: 7 }, () => randomBytes(32).toString('hex'));
  const [assets, files] = ['assets', 'asset_files'].map((name) => app.db.collection<{ _id: string }>(name));
  for (const asset_id of ids) {
    const row = { _id: `${organization_id}/${asset_id}`, organization_id, asset_id, media_type: 'image/png' };
    await assets?.insertOne({ ...row, width: 1, height: 1 } as { _id: string });
    const file = { ...row, bytes: new mongoose.mongo.Binary(Buffer.alloc(10 * 2 ** 20)) };
    await files?.insertOne(file as { _id: string });
  }
  const sources = ids.map((id) => `asset:${id}`);
  const { status, body } = await exportFile(await create(...sources), 'word?template_id=default');
  expect([status, body.code]).toEqual([400, 'export_too_large']);
  expect(body.detail).toContain('64 MiB');
  expect((await exportFile(await create(...sources.slice(1)), 'word?template_id=default')).status).toBe(200);
});
