/** Tests the replay of small and large responses to an Idempotency-Key over HTTP with a real MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const create = (body: unknown, key: string, member = ada) =>
  context.app.request('POST', '/documents', { as: member.as, body, headers: { 'idempotency-key': key } });

/** Creates a tree whose response has about this size, KiB. */
const createTree = (kib: number) =>
  Array.from({ length: 4 }, (_, at) => ({
    node_type: 'section',
    title: `${at}`,
    content: { type: 'doc', content: [{ type: 'text', text: 'é'.repeat(kib * 128) }] },
  }));

test('a response over 1 MiB is replayed from the current document', async () => {
  const key = newId();
  const body = { title: 'Long', nodes: createTree(1500) };
  const first = await create(body, key);
  expect([first.status, first.bytes.length > 2 ** 20]).toEqual([201, true]);
  const second = await create(body, key);
  expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect([second.body, second.headers.get('etag')]).toEqual([first.body, '"1"']);
  const stored = await context.app.db
    .collection('documents_idempotency')
    .find({ replay_key: { $exists: true } })
    .toArray();
  expect(stored).toMatchObject([{ replay_key: { doc_id: first.body.id }, status: 201 }]);
  expect(stored[0]).not.toHaveProperty('body');

  await context.request(ada, 'PATCH', first.body.id, { title: 'Moved on' });
  const third = await create(body, key);
  expect([third.status, third.body.title, third.headers.get('etag')]).toEqual([201, 'Moved on', '"2"']);
  await context.request(ada, 'DELETE', first.body.id);
  const fourth = await create(body, key);
  expect([fourth.status, fourth.body.code]).toEqual([404, 'not_found']);
  expect(await context.app.db.collection('documents').countDocuments({ title: 'Long' })).toBe(0);
});

test('a response below 1 MiB is replayed unchanged', async () => {
  const key = newId();
  const body = { title: 'Short', nodes: createTree(100) };
  const first = await create(body, key);
  await context.request(ada, 'PATCH', first.body.id, { title: 'Moved on' });
  const second = await create(body, key);
  expect([second.status, second.body, second.headers.get('etag')]).toEqual([201, first.body, '"1"']);
});
