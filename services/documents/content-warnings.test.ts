/** Tests the warnings about rich text that will not be shown, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { testApp } from '#libs/testing';
import { contracts, system } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { WrittenDocument, WrittenNode } from './shapes.ts';
import { type TestContext, type TestMember, testContextFor } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  const { bodyWorker } = system;
  context = testContextFor(await testApp({ services: [identity, documents], contracts, bodyWorker }));
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const paragraph = (...content: object[]) => ({ type: 'paragraph', content });
const doc = (...content: object[]) => ({ type: 'doc', content });
const text = (value: string, ...marks: object[]) => ({ type: 'text', text: value, marks });
const section = (content: object, ...children: object[]) => ({
  node_type: 'section',
  title: 'Section',
  content,
  children,
});
const step = (content: object) => ({ node_type: 'step', title: 'Step', content });

const shown = doc(paragraph(text('a', { type: 'bold' })));
const lossy = doc(paragraph(text('a')), { type: 'youtube' });
const unsafe = doc(paragraph(text('a', { type: 'link', attrs: { href: '/a' } })));

const create = (body: object, path = '/documents', headers = {}) =>
  context.app.request('POST', path, { as: ada.as, body, headers });
const toPlaces = ({ body }: { body: { warnings?: { path: string; code: string }[] } }) =>
  body.warnings?.map(({ path, code }) => `${path} ${code}`);

const places = [
  'body/nodes/0/content/content/1 unknown_node',
  'body/nodes/0/children/0/content/content/0/content/0/marks/0 link_removed',
];

test('createDocument answers with the place of what will not be shown', async () => {
  const created = await create({ title: 'Lossy', nodes: [section(lossy, step(unsafe))] });
  expect([created.status, toPlaces(created)]).toEqual([201, places]);
  expect(WrittenDocument.parse(created.body).warnings?.[0]?.message).toContain('"youtube"');
  const read = await context.request(ada, 'GET', created.body.id);
  expect(read.body).not.toHaveProperty('warnings');
  expect({ ...read.body, warnings: created.body.warnings }).toEqual(created.body);
  expect(read.body.nodes[0].content).toEqual(lossy);
});

test('replaceTree and updateNode answer with warnings', async () => {
  const { id } = await context.create(ada);
  const replaced = await context.request(ada, 'PUT', `${id}/nodes`, {
    nodes: [section(lossy, step(unsafe))],
  });
  expect([replaced.status, toPlaces(replaced)]).toEqual([200, places]);
  const path = `${id}/nodes/${replaced.body.nodes[0].id}`;
  const changed = await context.request(ada, 'PATCH', path, { content: unsafe });
  const [place] = toPlaces(changed) ?? [];
  expect([changed.status, place]).toEqual([200, 'body/content/content/0/content/0/marks/0 link_removed']);
  expect(WrittenNode.parse(changed.body).children).toHaveLength(1);
});

test('a write has no warnings if everything is shown', async () => {
  const nodes = [section(shown), { node_type: 'section', title: 'No text' }];
  const created = await create({ title: 'Shown', nodes });
  const replaced = await context.request(ada, 'PUT', `${created.body.id}/nodes`, { nodes });
  const path = `${created.body.id}/nodes/${replaced.body.nodes[0].id}`;
  const changed = await context.request(ada, 'PATCH', path, { content: shown });
  const cleared = await context.request(ada, 'PATCH', path, { content: null });
  for (const { status, body } of [created, replaced, changed, cleared]) {
    expect([200, 201]).toContain(status);
    expect(body).not.toHaveProperty('warnings');
  }
  expect(cleared.body.content).toBeNull();
});

test('strict writes are rejected with the warnings as errors', async () => {
  const { id } = await context.create(ada);
  const nodes = [section(lossy, step(unsafe))];
  const before = await context.request(ada, 'PUT', `${id}/nodes`, { nodes });
  const strict = [
    await create({ title: 'Strict', nodes }, '/documents?strict=true'),
    await context.request(ada, 'PUT', `${id}/nodes?strict=true`, { nodes }),
  ];
  for (const { status, body } of strict)
    expect([status, body.code, body.errors]).toEqual([400, 'invalid_request', before.body.warnings]);
  const path = `${id}/nodes/${before.body.nodes[0].id}?strict=true`;
  expect((await context.request(ada, 'PATCH', path, { content: unsafe })).status).toBe(400);
  const { body } = await context.request(ada, 'GET', id);
  expect({ ...body, warnings: before.body.warnings }).toEqual(before.body);
  expect((await context.request(ada, 'PATCH', path, { content: shown })).status).toBe(200);
  expect((await create({ title: 'x' }, '/documents?strict=maybe')).status).toBe(400);
});

test('at most 100 warnings are listed for a whole tree', async () => {
  const content = doc(...Array.from({ length: 60 }, () => ({ type: 'youtube' })));
  const { status, body } = await create({ title: 'Many', nodes: [section(content), section(content)] });
  expect([status, body.warnings.length]).toEqual([201, 100]);
  expect(body.warnings[99].path).toBe('body/nodes/1/content/content/39');
});

test('a body parsed in the worker has the same warnings', async () => {
  const body = {
    title: 'Large',
    nodes: [section(lossy, step(unsafe)), section(doc(text('a'.repeat(300_000))))],
  };
  const created = await create(body);
  expect([created.status, toPlaces(created)]).toEqual([201, places]);
});

test('a replayed response has its warnings, stored or rendered again', async () => {
  const long = Array.from({ length: 4 }, () => section(doc(text('é'.repeat(200_000)))));
  for (const nodes of [[section(lossy)], [section(lossy), ...long]]) {
    const headers = { 'idempotency-key': newId() };
    const first = await create({ title: 'Again', nodes }, '/documents', headers);
    const second = await create({ title: 'Again', nodes }, '/documents', headers);
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(toPlaces(second)).toEqual([places[0]]);
    expect(second.body).toEqual(first.body);
  }
});

test('rich text with ProseMirror names comes back as it was sent', async () => {
  const content = doc({
    type: 'ordered_list',
    attrs: { order: 3 },
    content: [
      { type: 'list_item', content: [paragraph(text('a', { type: 'strong' }), { type: 'hard_break' })] },
    ],
  });
  const { body } = await create({ title: 'ProseMirror', nodes: [section(content)] });
  expect(body).not.toHaveProperty('warnings');
  expect((await context.request(ada, 'GET', body.id)).body.nodes[0].content).toEqual(content);
});
