/** Exporting to Word, over HTTP with a real MongoDB. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'content-disposition';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp } from '#libs/testing';
import { wordType } from './contract.ts';
import { unpack } from './formats/opc/unpack.ts';
import { exportTestApp } from './testing/test-app.ts';

const fixture = (name: string) => readFile(new URL(`../../tests/fixtures/${name}`, import.meta.url));

let app: TestApp;
let ada: Person;
let sop: { id: string; title: string };
let templateId: string;

beforeAll(async () => {
  ({ app, ada } = await exportTestApp());
  sop = await draft(JSON.parse((await fixture('incident-response-sop.json')).toString()));
  const data = new FormData();
  data.append('name', 'Corporate');
  data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'corporate.docx');
  templateId = (await app.request('POST', '/templates', { as: ada.key, body: data })).body.id;
}, 60_000);
afterAll(() => app?.stop());

async function draft(body: unknown) {
  return (await app.request('POST', '/documents', { as: ada.key, body })).body;
}

const word = (id: string, query: string, as = ada.key) =>
  app.request('GET', `/documents/${id}/export/word${query}`, { as });

/** The text of one part of a .docx, without its markup. */
async function textOf(file: Uint8Array, part: string): Promise<string> {
  const xml = Buffer.from((await unpack(file)).get(part) ?? []).toString();
  return xml.replaceAll(/<[^>]+>/g, '').replaceAll('&amp;', '&');
}

/** What a tree says: titles in reading order. */
function titlesOf(nodes: { title: string; children: [] }[]): string[] {
  return nodes.flatMap(({ title, children }) => [title, ...titlesOf(children)]);
}

describe('Word', () => {
  test('is a Word file with the texts of the document and the header of the template', async () => {
    const told = await word(sop.id, `?template_id=${templateId}`);
    expect(told.status).toBe(200);
    expect(told.headers.get('content-type')).toBe(wordType);
    expect(parse(told.headers.get('content-disposition') ?? '')).toMatchObject({
      type: 'attachment',
      parameters: { filename: 'Payment system incident response.docx' },
    });
    const body = await textOf(told.bytes, 'word/document.xml');
    const { nodes } = (await app.request('GET', `/documents/${sop.id}`, { as: ada.key })).body;
    const titles = titlesOf(nodes);
    expect(titles.length).toBeGreaterThan(20);
    let at = 0;
    for (const title of titles) {
      at = body.indexOf(title, at);
      expect([title, at >= 0]).toEqual([title, true]);
    }
    expect(body).toContain('the minutes in which an alarm is a suspicion');
    expect((await textOf(told.bytes, 'word/header1.xml')).trim()).toBe(sop.title);
    expect((await unpack(told.bytes)).has('word/media/logo.png')).toBe(true);
  });

  test('has a built-in template, and drafts can be exported', async () => {
    const blank = await draft({ title: 'Blank & new', nodes: [{ node_type: 'section', title: 'Only' }] });
    const told = await word(blank.id, '?template_id=default');
    expect(told.status).toBe(200);
    const text = await textOf(told.bytes, 'word/document.xml');
    expect(text).toContain('Blank & new');
    expect(text).toContain('Only');
  });

  test('by another template is another file, also when the first is kept', async () => {
    const kept = await word(sop.id, `?template_id=${templateId}`);
    const other = await word(sop.id, '?template_id=default');
    expect((await unpack(kept.bytes)).has('word/media/logo.png')).toBe(true);
    expect((await unpack(other.bytes)).has('word/media/logo.png')).toBe(false);
    expect(other.headers.get('etag')).not.toBe(kept.headers.get('etag'));
  });

  test.each(['', '?template_id=', '?template_id=a&template_id=b'])(
    'without one template is a 400: %j',
    async (query) => {
      const refused = await word(sop.id, query);
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'query/template_id' }] } });
    },
  );

  test('of a document or by a template that is not there is a 404', async () => {
    const asked = [
      word(newId(), `?template_id=${templateId}`),
      word('nonsense', `?template_id=${templateId}`),
      word(sop.id, `?template_id=${newId()}`),
      word(sop.id, '?template_id=nonsense'),
    ];
    for (const { status, body } of await Promise.all(asked))
      expect([status, body.code]).toEqual([404, 'not_found']);
  });

  test('by a deleted template is a 404', async () => {
    const data = new FormData();
    data.append('name', 'Short-lived');
    data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'x.docx');
    const { id } = (await app.request('POST', '/templates', { as: ada.key, body: data })).body;
    expect((await word(sop.id, `?template_id=${id}`)).status).toBe(200);
    await app.request('DELETE', `/templates/${id}`, { as: ada.key });
    expect((await word(sop.id, `?template_id=${id}`)).status).toBe(404);
  });

  test('by a template that an older version compiled is made all the same', async () => {
    const old = { compiler: '0', plan: '{"of":"old"}' };
    const eve = await register(app);
    const data = new FormData();
    data.append('name', 'Old');
    data.append('file', new Blob([new Uint8Array(await fixture('corporate-template.docx'))]), 'x.docx');
    const { id } = (await app.request('POST', '/templates', { as: eve.key, body: data })).body;
    await app.db.collection<{ _id: string }>('templates').updateOne({ _id: id }, { $set: old });
    const body = { title: 'Hers', nodes: [{ node_type: 'section', title: 'Only' }] };
    const hers = (await app.request('POST', '/documents', { as: eve.key, body })).body;
    const made = await word(hers.id, `?template_id=${id}`, eve.key);
    expect(made.status).toBe(200);
    expect(await textOf(made.bytes, 'word/document.xml')).toContain('Only');
  });

  test('is not for another organization, neither the document nor the template', async () => {
    const eve = await register(app);
    const body = { title: 'Hers' };
    const hers = (await app.request('POST', '/documents', { as: eve.key, body })).body;
    expect((await word(sop.id, '?template_id=default', eve.key)).status).toBe(404);
    expect((await word(hers.id, `?template_id=${templateId}`, eve.key)).status).toBe(404);
    expect((await word(hers.id, '?template_id=default', eve.key)).status).toBe(200);
  });

  test('of ten thousand nodes is made whole, as is the Markdown', async () => {
    const large = await draft({ title: 'Ten thousand', nodes: treeOf(10_000) });
    const [made, markdown] = await Promise.all([
      word(large.id, '?template_id=default'),
      app.request('GET', `/documents/${large.id}/export/markdown`, { as: ada.key }),
    ]);
    expect([made.status, markdown.status]).toEqual([200, 200]);
    const wanted = Array.from({ length: 10_000 }, (_, at) => `Part ${at + 1}`);
    const text = await textOf(made.bytes, 'word/document.xml');
    expect(text.match(/Part \d+/g)).toEqual(wanted);
    expect(text.match(/Look at the queue\./g)).toHaveLength(10_000);
    const headings = Buffer.from(markdown.bytes)
      .toString()
      .match(/(?<=^##+ ).*$/gm);
    expect(headings).toEqual(wanted);
  }, 120_000);
});

/** Sections with steps with sub-steps, numbered as they are read. */
function treeOf(count: number): object[] {
  let made = 0;
  const content = {
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Look at the queue.' }] }],
  };
  const node = (node_type: string, below: string[], times: number): object[] => {
    const found: object[] = [];
    for (let at = 0; at < times && made < count; at += 1) {
      made += 1;
      const title = `Part ${made}`;
      const [next, ...rest] = below;
      found.push({ node_type, title, content, children: next ? node(next, rest, 9) : [] });
    }
    return found;
  };
  return node('section', ['step', 'sub_step'], count);
}
