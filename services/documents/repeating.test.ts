/** Idempotency-Key on documents over HTTP with a real MongoDB: the answer of the first request, also when it was long. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: TestMember;

beforeAll(async () => {
  home = await testContext([identity, documents]);
  ada = await home.admin();
}, 60_000);
afterAll(() => home?.app.stop());

const create = (body: unknown, key: string, who = ada) =>
  home.app.request('POST', '/documents', { as: who.as, body, headers: { 'idempotency-key': key } });

/** A tree whose answer is about so many KiB. */
const treeOf = (kib: number) =>
  Array.from({ length: 4 }, (_, at) => ({
    node_type: 'section',
    title: `${at}`,
    content: { type: 'doc', content: [{ type: 'text', text: 'é'.repeat(kib * 128) }] },
  }));

test('an answer over 1 MiB comes again as the document is now, and only ids of it are kept', async () => {
  const key = newId();
  const body = { title: 'Long', nodes: treeOf(1500) };
  const first = await create(body, key);
  expect([first.status, first.bytes.length > 2 ** 20]).toEqual([201, true]);
  const second = await create(body, key);
  expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect([second.body, second.headers.get('etag')]).toEqual([first.body, '"1"']);
  const kept = await home.app.db
    .collection('documents_idempotency')
    .find({ replay_key: { $exists: true } })
    .toArray();
  expect(kept).toMatchObject([{ replay_key: { doc_id: first.body.id }, status: 201 }]);
  expect(kept[0]).not.toHaveProperty('body');

  await home.request(ada, 'PATCH', first.body.id, { title: 'Moved on' });
  const third = await create(body, key);
  expect([third.status, third.body.title, third.headers.get('etag')]).toEqual([201, 'Moved on', '"2"']);
  await home.request(ada, 'DELETE', first.body.id);
  const fourth = await create(body, key);
  expect([fourth.status, fourth.body.code]).toEqual([404, 'not_found']);
  expect(await home.app.db.collection('documents').countDocuments({ title: 'Long' })).toBe(0);
});

test('an answer below that comes again as it was, whatever became of the document', async () => {
  const key = newId();
  const body = { title: 'Short', nodes: treeOf(100) };
  const first = await create(body, key);
  await home.request(ada, 'PATCH', first.body.id, { title: 'Moved on' });
  const second = await create(body, key);
  expect([second.status, second.body, second.headers.get('etag')]).toEqual([201, first.body, '"1"']);
});
