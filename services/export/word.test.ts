/** Tests Word exports over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { unpack } from '#libs/opc';
import { type Person, register, type TestApp } from '#libs/testing';
import { wordType } from './contract.ts';
import { exportTestApp } from './testing/test-app.ts';

const fixture = (name: string) => readFile(new URL(`../../tests/fixtures/${name}`, import.meta.url));

let app: TestApp;
let ada: Person;
let procedure: { id: string; title: string };
let templateId: string;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
  procedure = await createDraft(JSON.parse((await fixture('incident-response-sop.json')).toString()));
  const data = new FormData();
  data.append('name', 'Corporate');
  data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'corporate.docx');
  templateId = (await app.request('POST', '/templates', { as: ada.key, body: data })).body.id;
});
afterAll(() => app?.stop());

async function createDraft(body: unknown) {
  return (await app.request('POST', '/documents', { as: ada.key, body })).body;
}

const exportWord = (id: string, query: string, as = ada.key) =>
  app.request('GET', `/documents/${id}/export/word${query}`, { as });

/** Returns the text of one part of a .docx file, without its markup. */
async function getText(file: Uint8Array, part: string): Promise<string> {
  const xml = Buffer.from((await unpack(file)).get(part) ?? []).toString();
  return xml.replaceAll(/<[^>]+>/g, '').replaceAll('&amp;', '&');
}

/** Collects the titles of a tree in reading order. */
function collectTitles(nodes: { title: string; children: [] }[]): string[] {
  return nodes.flatMap(({ title, children }) => [title, ...collectTitles(children)]);
}

describe('Word export', () => {
  test('a Word file has the document text and the template header', async () => {
    const response = await exportWord(procedure.id, `?template_id=${templateId}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(wordType);
    expect(parse(response.headers.get('content-disposition') ?? '')).toMatchObject({
      type: 'attachment',
      parameters: { filename: 'Payment system incident response.docx' },
    });
    const body = await getText(response.bytes, 'word/document.xml');
    const { nodes } = (await app.request('GET', `/documents/${procedure.id}`, { as: ada.key })).body;
    const titles = collectTitles(nodes);
    expect(titles.length).toBeGreaterThan(20);
    let at = 0;
    for (const title of titles) {
      at = body.indexOf(title, at);
      expect([title, at >= 0]).toEqual([title, true]);
    }
    expect(body).toContain('the minutes in which an alarm is a suspicion');
    expect((await getText(response.bytes, 'word/header1.xml')).trim()).toBe(procedure.title);
    expect((await unpack(response.bytes)).has('word/media/logo.png')).toBe(true);
  });

  test('a draft can be exported with the built-in template', async () => {
    const blank = await createDraft({
      title: 'Blank & new',
      nodes: [{ node_type: 'section', title: 'Only' }],
    });
    const response = await exportWord(blank.id, '?template_id=default');
    expect(response.status).toBe(200);
    const text = await getText(response.bytes, 'word/document.xml');
    expect(text).toContain('Blank & new');
    expect(text).toContain('Only');
  });

  test('another template results in another file and ETag', async () => {
    const first = await exportWord(procedure.id, `?template_id=${templateId}`);
    const other = await exportWord(procedure.id, '?template_id=default');
    expect((await unpack(first.bytes)).has('word/media/logo.png')).toBe(true);
    expect((await unpack(other.bytes)).has('word/media/logo.png')).toBe(false);
    expect(other.headers.get('etag')).not.toBe(first.headers.get('etag'));
  });

  test.each(['', '?template_id=', '?template_id=a&template_id=b'])(
    'an export without exactly one template is a 400: %j',
    async (query) => {
      const response = await exportWord(procedure.id, query);
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: 'query/template_id' }] } });
    },
  );

  test('an unknown document or template of a Word export is a 404', async () => {
    const requests = [
      exportWord(newId(), `?template_id=${templateId}`),
      exportWord('nonsense', `?template_id=${templateId}`),
      exportWord(procedure.id, `?template_id=${newId()}`),
      exportWord(procedure.id, '?template_id=nonsense'),
    ];
    for (const { status, body } of await Promise.all(requests))
      expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test('an export with a deleted template is a 404', async () => {
    const data = new FormData();
    data.append('name', 'Short-lived');
    data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'x.docx');
    const { id } = (await app.request('POST', '/templates', { as: ada.key, body: data })).body;
    expect((await exportWord(procedure.id, `?template_id=${id}`)).status).toBe(200);
    await app.request('DELETE', `/templates/${id}`, { as: ada.key });
    expect((await exportWord(procedure.id, `?template_id=${id}`)).status).toBe(404);
  });

  test('a template of an older version is exported and deleted with its files', async () => {
    const eve = await register(app);
    const data = new FormData();
    data.append('name', 'Old');
    data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'x.docx');
    const { id } = (await app.request('POST', '/templates', { as: eve.key, body: data })).body;
    // older versions stored the compiled template too
    const bucket = new mongoose.mongo.GridFSBucket(app.db, { bucketName: 'template_files' });
    const compiled = bucket.openUploadStream(`${id}/compiled.zip`);
    await new Promise<void>((resolve) => compiled.end(Buffer.from('compiled'), resolve));
    const old = { compiler: '1', plan: '{"mode":"styles"}', compiled_file: compiled.id };
    await app.db.collection<{ _id: string }>('templates').updateOne({ _id: id }, { $set: old });
    const body = { title: 'Eve’s document', nodes: [{ node_type: 'section', title: 'Only' }] };
    const document = (await app.request('POST', '/documents', { as: eve.key, body })).body;
    const response = await exportWord(document.id, `?template_id=${id}`, eve.key);
    expect(response.status).toBe(200);
    expect(await getText(response.bytes, 'word/document.xml')).toContain('Only');
    expect((await app.request('DELETE', `/templates/${id}`, { as: eve.key })).status).toBe(204);
    const files = app.db.collection('template_files.files');
    expect(await files.countDocuments({ filename: new RegExp(`^${id}/`) })).toBe(0);
  });

  test('a document or template of another organization is a 404', async () => {
    const eve = await register(app);
    const body = { title: 'Eve’s document' };
    const document = (await app.request('POST', '/documents', { as: eve.key, body })).body;
    expect((await exportWord(procedure.id, '?template_id=default', eve.key)).status).toBe(404);
    expect((await exportWord(document.id, `?template_id=${templateId}`, eve.key)).status).toBe(404);
    expect((await exportWord(document.id, '?template_id=default', eve.key)).status).toBe(200);
  });

  test('Word and Markdown files of 10,000 nodes contain every node', async () => {
    const large = await createDraft({ title: 'Ten thousand', nodes: createTree(10_000) });
    const [wordResponse, markdown] = await Promise.all([
      exportWord(large.id, '?template_id=default'),
      app.request('GET', `/documents/${large.id}/export/markdown`, { as: ada.key }),
    ]);
    expect([wordResponse.status, markdown.status]).toEqual([200, 200]);
    const expected = Array.from({ length: 10_000 }, (_, at) => `Part ${at + 1}`);
    const text = await getText(wordResponse.bytes, 'word/document.xml');
    // the contents come first and list sections only
    expect(text.match(/Part \d+/g)?.slice(-10_000)).toEqual(expected);
    expect(text.match(/Look at the queue\./g)).toHaveLength(10_000);
    const headings = Buffer.from(markdown.bytes)
      .toString()
      .match(/(?<=^##+ ).*$/gm);
    expect(headings).toEqual(expected);
  });
});

/** Creates sections with steps with sub-steps, numbered in reading order. */
function createTree(count: number): object[] {
  let created = 0;
  const content = {
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Look at the queue.' }] }],
  };
  const node = (node_type: string, below: string[], times: number): object[] => {
    const found: object[] = [];
    for (let at = 0; at < times && created < count; at += 1) {
      created += 1;
      const title = `Part ${created}`;
      const [next, ...rest] = below;
      found.push({ node_type, title, content, children: next ? node(next, rest, 9) : [] });
    }
    return found;
  };
  return node('section', ['step', 'sub_step'], count);
}
