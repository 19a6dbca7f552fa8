/** Tests of readers and lists of people: limits, order, CSV, deletion, and what a dump of acknowledgements holds. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { listAll, must, type Person } from '#libs/testing';
import { type AcknowledgementFixture, acknowledgementFixture, outcome } from '../testing/acknowledgements.ts';
import { maxReaders, type Person as PersonShape } from './shapes.ts';

let fixture: AcknowledgementFixture;
let ada: Person;
let document: { id: string; content_hash: string };
let requestId: string;

beforeAll(async () => {
  fixture = await acknowledgementFixture();
  ada = await fixture.organization();
  document = await fixture.publish(ada.key);
  requestId = (await fixture.ask(ada.key, document.id, { audience: { everyone: true } })).id;
}, 120_000);
afterAll(() => fixture?.app.stop());

const post = (readers: unknown, id = requestId) =>
  fixture.app.request('POST', `/acknowledgement-requests/${id}/readers`, { as: ada.key, body: { readers } });

const reader = (external_id: string, name = 'Grace Hopper') => ({ external_id, name });

describe('readers', () => {
  test('are returned in the order of the call, and known ones unchanged', async () => {
    const first = (await post([reader('A 1'), reader('A 2')])).body;
    const second = (await post([reader('A 3'), reader('A 2', 'Another name')])).body;
    const keys = second.map(({ external_id }: PersonShape) => external_id);
    expect([keys, second[1]]).toEqual([['A 3', 'A 2'], first[1]]);
  });

  test('are added once by concurrent calls', async () => {
    const calls = Array.from({ length: 5 }, () => post([reader('B 1'), reader('B 2')]));
    const responses = await Promise.all(calls);
    const first = responses[0]?.body;
    for (const { status, body } of responses) expect([status, body]).toEqual([200, first]);
  });

  test('have their links again in a replayed response', async () => {
    const path = `/acknowledgement-requests/${requestId}/readers`;
    const request = {
      as: ada.key,
      headers: { 'idempotency-key': 'readers' },
      body: { readers: [reader('C 1')] },
    };
    const first = await fixture.app.request('POST', path, request);
    const replayed = await fixture.app.request('POST', path, request);
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(replayed.body).toEqual(first.body);
  });

  test.each([
    ['without a key', [{ name: 'Grace' }], 400],
    ['with a blank name', [reader('D', '  ')], 400],
    ['with a key twice', [reader('D'), reader('D')], 400],
    ['with a name of 201 characters', [reader('D', 'x'.repeat(201))], 400],
    ['none', [], 400],
    ['1,001 of them', Array.from({ length: 1_001 }, (_, at) => reader(`D ${at}`)), 400],
    ['a name of 200 characters', [reader('E', '😀'.repeat(200))], 200],
  ])('%s', async (_name, readers, status) => {
    expect((await post(readers)).status).toBe(status);
  });

  test('are at most 50,000, also with concurrent calls', async () => {
    const other = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, other.id);
    const requests = fixture.app.db.collection<{ _id: string }>('acknowledgement_requests');
    await requests.updateOne({ _id: id }, { $set: { reader_count: maxReaders - 1 } });
    const outcomes = await Promise.all(['F 1', 'F 2', 'F 3'].map((key) => post([reader(key)], id)));
    expect(outcomes.map(outcome).sort()).toEqual([
      [200, undefined],
      [400, 'too_many_readers'],
      [400, 'too_many_readers'],
    ]);
  });

  test('cannot be added to a closed request', async () => {
    const other = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, other.id);
    await must(fixture.app, 'POST', `/acknowledgement-requests/${id}/close`, { as: ada.key });
    expect(outcome(await post([reader('G')], id))).toEqual([400, 'acknowledgement_request_closed']);
  });
});

describe('a list of people', () => {
  test('has members first, in pages without gaps', async () => {
    const path = `/acknowledgement-requests/${requestId}/people`;
    const all = await fixture.listPeople(ada.key, requestId);
    expect(all[0].kind).toBe('member');
    const paged = await listAll<PersonShape>(fixture.app, `${path}?limit=2`, ada.key);
    expect(paged).toEqual(all);
    const pending = await listAll<PersonShape>(fixture.app, `${path}?limit=1&status=pending`, ada.key);
    expect(pending).toEqual(all);
  });

  test('as CSV has all people, and no cell that a spreadsheet runs', async () => {
    const other = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, other.id);
    const names = ['=1+1', '+1', '-1', '@sum', 'a "quoted", name', 'two\nlines', '\u202eevil'];
    const added = (
      await post(
        names.map((name, at) => reader(`H ${at}`, name)),
        id,
      )
    ).body;
    const path = `/acknowledgement-requests/${id}/people?format=csv&limit=1`;
    const response = await fixture.app.request('GET', path, { as: ada.key });
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const text = Buffer.from(response.bytes).toString();
    const cells = ["'=1+1", "'+1", "'-1", "'@sum", '"a ""quoted"", name"', '"two\nlines"', '\u202eevil'];
    const lines = added.map(
      ({ id, url, due_at }: PersonShape, at: number) =>
        `${id},reader,H ${at},${cells[at]},${url},pending,${due_at},,\r\n`,
    );
    const head = 'id,kind,external_id,name,url,status,due_at,acknowledged_at,document_id\r\n';
    expect(text).toBe(head + lines.join(''));
  });
});

test('a deleted reader leaves an acknowledgement without name and key', async () => {
  const [one] = (await post([reader('K-SECRET-1', 'Katherine Johnson')])).body;
  await fixture.submit(one.url, { content_hash: document.content_hash });
  const path = `/acknowledgement-requests/${requestId}/readers/${one.id}`;
  await must(fixture.app, 'DELETE', path, { as: ada.key, status: 204 });
  expect(outcome(await fixture.app.request('DELETE', path, { as: ada.key }))).toEqual([404, 'not_found']);
  const { db } = fixture.app;
  const dump = JSON.stringify(await db.collection('acknowledgements').find().toArray());
  expect(dump).toContain(one.id);
  const readers = JSON.stringify(await db.collection('acknowledgement_readers').find().toArray());
  for (const text of ['Katherine', 'K-SECRET-1', 'Ada Example', 'Grace Hopper'])
    expect([text, dump.includes(text)]).toEqual([text, false]);
  expect(readers).not.toContain('Katherine');
  const people = await fixture.listPeople(ada.key, requestId);
  expect(people.map(({ id }) => id)).not.toContain(one.id);
});

test('of two first requests about a document, one wins', async () => {
  const other = await fixture.publish(ada.key);
  const request = { as: ada.key, body: { document_id: other.id } };
  const responses = await Promise.all([
    fixture.app.request('POST', '/acknowledgement-requests', request),
    fixture.app.request('POST', '/acknowledgement-requests', request),
  ]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test.each([
  ['a blank statement', { statement: '  ' }],
  ['a statement of 501 characters', { statement: 'x'.repeat(501) }],
  ['no due days', { due_days: 0 }],
  ['366 due days', { due_days: 366 }],
  ['201 departments', { audience: { departments: Array.from({ length: 201 }, (_, at) => `D ${at}`) } }],
  ['an unknown field', { audience: { roles: ['admin'] } }],
])('a request with %s is invalid', async (_name, body) => {
  const request = { as: ada.key, body: { document_id: document.id, ...body } };
  const response = await fixture.app.request('POST', '/acknowledgement-requests', request);
  expect(outcome(response)).toEqual([400, 'invalid_request']);
});

test('a document that is not locked cannot be acknowledged', async () => {
  const unlocked = await fixture.organization();
  const settings = { lock_published: false };
  await must(fixture.app, 'PATCH', '/organization', { as: unlocked.token, body: { settings } });
  const published = await fixture.publish(unlocked.key);
  const ask = (document_id: string) =>
    fixture.app.request('POST', '/acknowledgement-requests', { as: unlocked.key, body: { document_id } });
  expect(outcome(await ask(published.id))).toEqual([400, 'document_not_locked']);
  const draft = await must(fixture.app, 'POST', `/documents/${published.id}/revise`, { as: unlocked.key });
  expect(outcome(await ask(draft.id))).toEqual([400, 'document_not_published']);
});
