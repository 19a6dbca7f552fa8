/** Tests the creation of documents over HTTP with a real MongoDB. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { Document, type Node } from './contract.ts';
import { documents } from './service.ts';
import { WrittenDocument } from './shapes.ts';

let app: TestApp;
let ada: Person;
let sop: { title: string; version: string; department: string; nodes: SampleNode[] };

/** A node of the sample SOP. */
interface SampleNode {
  node_type: string;
  title: string;
  content?: object;
  order?: number;
  children?: SampleNode[];
}

beforeAll(async () => {
  app = await testApp({ services: [identity, documents], contracts });
  ada = await register(app);
  sop = JSON.parse(
    await readFile(new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url), 'utf8'),
  );
});
afterAll(() => app?.stop());

const create = (body: unknown = { title: 'SOP' }, as = ada.key) =>
  app.request('POST', '/documents', { as, body });

describe('createDocument', () => {
  test('createDocument fills absent fields of an empty draft with null', async () => {
    const { status, body, headers } = await create();
    expect(status).toBe(201);
    expect(Document.parse(body)).toMatchObject({
      organization_id: ada.organizationId,
      created_by: ada.userId,
      editor_id: null,
      parent_doc_id: null,
      version: null,
      department: null,
      language: null,
      status: 'draft',
      published_at: null,
      archived_at: null,
      nodes: [],
    });
    expect(headers.get('etag')).toBe('"1"');
  });

  test('createDocument returns a whole SOP with identical rich text', async () => {
    const { status, body } = await create(sop);
    expect(status).toBe(201);
    // the procedure has a remote image
    const { warnings, ...document } = WrittenDocument.parse(body);
    expect(warnings?.map(({ code }) => code)).toEqual(['image_not_shown']);
    expect(document).toMatchObject({
      title: sop.title,
      version: sop.version,
      department: sop.department,
    });
    expect(toInput(body.nodes)).toEqual(withDefaults(sop.nodes));
    const read = await app.request('GET', `/documents/${body.id}`, { as: ada.key });
    expect(read.body).toEqual(document);
  });

  test('createDocument preserves unusual names and numbers in rich text', async () => {
    const content = {
      type: 'doc',
      attrs: { $where: '1', 'a.b': [1e308, -0.1, null, true], constructor: 'x' },
      content: [{ type: 'text', text: '\u0000\u2028"\\</script>' }],
    };
    const { body } = await create({ title: 'T', nodes: [{ node_type: 'section', title: 'S', content }] });
    expect(body.nodes[0].content).toEqual(content);
  });

  test('siblings are sorted by order, then by creation', async () => {
    const titles = ['late', 'first', 'tie 1', 'tie 2'];
    const orders = [9, -1, 2.5, 2.5];
    const nodes = titles.map((title, at) => ({ node_type: 'section', title, order: orders[at] }));
    const { body } = await create({ title: 'T', nodes });
    expect(body.nodes.map((node: { title: string }) => node.title)).toEqual([
      'first',
      'tie 1',
      'tie 2',
      'late',
    ]);
  });

  test('createDocument reports misplaced nodes and stores nothing', async () => {
    const before = await app.db.collection('nodes').countDocuments({ organization_id: ada.organizationId });
    const nodes = [
      { node_type: 'step', title: 'x' },
      { node_type: 'section', title: 'y', children: [{ node_type: 'sub_step', title: 'z' }] },
    ];
    const { status, body } = await create({ title: 'T', nodes });
    expect([status, body.code]).toEqual([400, 'node_hierarchy']);
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual([
      'body/nodes/0',
      'body/nodes/1/children/0',
    ]);
    expect(await app.db.collection('nodes').countDocuments({ organization_id: ada.organizationId })).toBe(
      before,
    );
  });

  test('createDocument reports the paths of invalid rich text', async () => {
    const nodes = [{ node_type: 'section', title: 'x', content: { type: 'doc', content: [{ text: 5 }] } }];
    const { status, body } = await create({ title: 'T', nodes });
    expect(status).toBe(400);
    const paths = body.errors.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['body/nodes/0/content/content/0/type', 'body/nodes/0/content/content/0/text']);
  });

  test('createDocument rejects a number that would be stored as null', async () => {
    const nodes = [
      { node_type: 'section', title: 'x', content: { type: 'image', attrs: { width: 'too large' } } },
    ];
    const body = JSON.stringify({ title: 'T', nodes }).replace('"too large"', '1e400');
    const headers = { 'content-type': 'application/json' };
    const response = await app.request('POST', '/documents', { as: ada.key, body, headers });
    expect([response.status, response.body.errors]).toMatchObject([
      400,
      [{ path: 'body/nodes/0/content/attrs' }],
    ]);
  });

  test('createDocument accepts 10,000 nodes and rejects more', async () => {
    const tree = (steps: number) => [
      {
        node_type: 'section',
        title: 's',
        children: Array.from({ length: steps }, (_, at) => ({ node_type: 'step', title: `${at}` })),
      },
    ];
    expect((await create({ title: 'T', nodes: tree(9_999) })).status).toBe(201);
    const { status, body } = await create({ title: 'T', nodes: tree(10_000) });
    expect([status, body.code]).toEqual([400, 'too_many_nodes']);
  });

  test('createDocument accepts 30 MiB of rich text and rejects 60 MiB', async () => {
    const noise = (at: number) => randomBytes(360_000).toString('base64') + at;
    const nodes = Array.from({ length: 60 }, (_, at) => ({
      node_type: 'section',
      title: `${at}`,
      content: { type: 'doc', content: [{ type: 'text', text: noise(at) }] },
    }));
    const { status, body } = await create({ title: 'Large', nodes });
    expect(status).toBe(201);
    expect(toInput(body.nodes)).toEqual(withDefaults(nodes));
    const tooMuch = await create({ title: 'T', nodes: [...nodes, ...nodes] });
    expect([tooMuch.status, tooMuch.body.code]).toEqual([413, 'payload_too_large']);
  });

  test('createDocument with one Idempotency-Key creates one document', async () => {
    const request = { as: ada.key, body: { title: 'Once' }, headers: { 'idempotency-key': newId() } };
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => app.request('POST', '/documents', request)),
    );
    expect(new Set(responses.map(({ status }) => status)).size).toBeLessThanOrEqual(2);
    const created = responses.filter(({ status }) => status === 201);
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1);
    expect(
      responses
        .filter(({ status }) => status !== 201)
        .every(({ body }) => body.code === 'idempotency_key_in_flight'),
    ).toBe(true);
    const later = await app.request('POST', '/documents', request);
    expect([later.status, later.body, later.headers.get('etag')]).toEqual([201, created[0]?.body, '"1"']);
    const other = await app.request('POST', '/documents', { ...request, body: { title: 'Twice' } });
    expect([other.status, other.body.code]).toEqual([400, 'idempotency_key_reused']);
  });
});

function toInput(nodes: Node[]): unknown {
  return nodes.map(({ node_type, title, content, order, children }) => ({
    node_type,
    title,
    content,
    order,
    children: toInput(children),
  }));
}

function withDefaults(nodes: SampleNode[]): unknown {
  return nodes.map(({ node_type, title, content, order, children }, at) => ({
    node_type,
    title,
    content: content ?? null,
    order: order ?? at,
    children: withDefaults(children ?? []),
  }));
}
