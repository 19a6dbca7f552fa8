/** Tests of requests and acknowledgements of members, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { must, type Person, until } from '#libs/testing';
import { type AcknowledgementFixture, acknowledgementFixture, outcome } from '../testing/acknowledgements.ts';
import { Acknowledgement, AcknowledgementRequestDetails, Person as PersonShape } from './shapes.ts';

let fixture: AcknowledgementFixture;
let ada: Person;

beforeAll(async () => {
  fixture = await acknowledgementFixture();
  ada = await fixture.organization();
}, 120_000);
afterAll(() => fixture?.app.stop());

describe('an acknowledgement of a member', () => {
  test('is recorded once for a version, and its status follows', async () => {
    const document = await fixture.publish(ada.key);
    const request = await fixture.ask(ada.key, document.id, { audience: { member_ids: [ada.userId] } });
    expect(request).toMatchObject({
      document_id: document.id,
      audience: { everyone: false, departments: [], member_ids: [ada.userId] },
      statement: 'I have read and understood this document.',
      ...{ due_days: 14, status: 'open', created_by: ada.userId, closed_at: null },
    });
    const pending = await fixture.listPeople(ada.key, request.id);
    expect(PersonShape.parse(pending[0])).toMatchObject({
      ...{ id: ada.userId, kind: 'member', external_id: null, name: 'Ada Example', url: null },
      ...{ status: 'pending', acknowledged_at: null, document_id: null },
    });
    const first = await fixture.acknowledge(ada.token, document);
    expect(first.status).toBe(201);
    expect(Acknowledgement.parse(first.body)).toMatchObject({
      ...{ request_id: request.id, document_id: document.id, content_hash: document.content_hash },
      ...{ statement: request.statement, person: { id: ada.userId, kind: 'member' } },
    });
    const second = await fixture.acknowledge(ada.token, document);
    expect([second.status, second.body]).toEqual([200, first.body]);
    const details = await fixture.getRequest(ada.key, request.id);
    expect(AcknowledgementRequestDetails.parse(details).totals).toEqual({
      ...{ people: 1, acknowledged: 1, pending: 0, overdue: 0 },
    });
    const [person] = await fixture.listPeople(ada.key, request.id, '?status=acknowledged');
    expect(person).toMatchObject({
      ...{ status: 'acknowledged', acknowledged_at: first.body.created_at, document_id: document.id },
    });
    expect(await must(fixture.app, 'GET', '/acknowledgements', { as: ada.key })).toContainEqual(first.body);
  });

  test('is made in person, by the audience, about the current words', async () => {
    const [asked, other] = [await fixture.member(ada), await fixture.member(ada)];
    const document = await fixture.publish(ada.key);
    expect(outcome(await fixture.acknowledge(asked.token, document))).toEqual([
      400,
      'acknowledgement_request_closed',
    ]);
    await fixture.ask(ada.key, document.id, { audience: { member_ids: [asked.userId] } });
    expect(outcome(await fixture.acknowledge(ada.key, document))).toEqual([403, 'person_required']);
    expect(outcome(await fixture.acknowledge(other.token, document))).toEqual([403, 'forbidden']);
    const wrong = { ...document, content_hash: `sha256:${'0'.repeat(64)}` };
    expect(outcome(await fixture.acknowledge(asked.token, wrong))).toEqual([400, 'content_changed']);
    const revised = await fixture.revise(ada.key, document.id, { title: 'Vault 2' });
    expect(outcome(await fixture.acknowledge(asked.token, document))).toEqual([400, 'content_changed']);
    expect((await fixture.acknowledge(asked.token, revised)).status).toBe(201);
  });

  test('names the published version, even if an older one has the same words', async () => {
    const older = await fixture.publish(ada.key);
    await fixture.ask(ada.key, older.id, { audience: { everyone: true } });
    const between = await fixture.revise(ada.key, older.id, { version: '2' });
    const published = await fixture.revise(ada.key, between.id, { version: older.version });
    expect([published.id === older.id, published.content_hash]).toEqual([false, older.content_hash]);
    expect(outcome(await fixture.acknowledge(ada.token, older))).toEqual([400, 'content_changed']);
    expect((await fixture.acknowledge(ada.token, published)).body.document_id).toBe(published.id);
  });

  test('belongs to the open request, not to a closed one', async () => {
    const document = await fixture.publish(ada.key);
    const audience = { member_ids: [ada.userId] };
    const closed = await fixture.ask(ada.key, document.id, { audience });
    await must(fixture.app, 'POST', `/acknowledgement-requests/${closed.id}/close`, { as: ada.key });
    const open = await fixture.ask(ada.key, document.id, { audience });
    expect((await fixture.acknowledge(ada.token, document)).body.request_id).toBe(open.id);
  });

  test('counts for minor changes, and not for major ones', async () => {
    const document = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, document.id, { audience: { everyone: true } });
    await fixture.acknowledge(ada.token, document);
    const statusOfAda = async () =>
      (await fixture.listPeople(ada.key, id)).find((person) => person.id === ada.userId);
    const minor = await fixture.revise(ada.key, document.id, { title: 'Vault 2', minor_change: true });
    expect(await statusOfAda()).toMatchObject({ status: 'acknowledged', document_id: document.id });
    const major = await fixture.revise(ada.key, minor.id, { title: 'Vault 3' });
    expect(await statusOfAda()).toMatchObject({ status: 'pending', acknowledged_at: null });
    const again = await fixture.revise(ada.key, major.id, { title: 'Vault 4', minor_change: true });
    await fixture.acknowledge(ada.token, again);
    expect(await statusOfAda()).toMatchObject({ status: 'acknowledged', document_id: again.id });
  });

  test('does not count after an edit in place, until a new version', async () => {
    const grace = await fixture.organization();
    const document = await fixture.publish(grace.key);
    const { id } = await fixture.ask(grace.key, document.id, { audience: { everyone: true } });
    await fixture.acknowledge(grace.token, document);
    const unlock = { settings: { lock_published: false } };
    await must(fixture.app, 'PATCH', '/organization', { as: grace.token, body: unlock });
    await must(fixture.app, 'PATCH', `/documents/${document.id}`, { as: grace.key, body: { title: 'New' } });
    expect((await fixture.listPeople(grace.key, id))[0].status).toBe('pending');
    // the first acknowledgement is a fact, but it does not count for the new words
    expect((await fixture.acknowledge(grace.token, document)).status).toBe(200);
    expect((await fixture.listPeople(grace.key, id))[0].status).toBe('pending');
    const minor = await fixture.revise(grace.key, document.id, { minor_change: true });
    expect((await fixture.listPeople(grace.key, id))[0].status).toBe('pending');
    expect((await fixture.acknowledge(grace.token, minor)).status).toBe(201);
    expect((await fixture.listPeople(grace.key, id))[0].status).toBe('acknowledged');
  });
});

test('a request of an archived document ended when it was archived', async () => {
  const document = await fixture.publish(ada.key);
  const { id } = await fixture.ask(ada.key, document.id);
  const path = `/documents/${document.id}/archive`;
  const { archived_at } = await must(fixture.app, 'POST', path, { as: ada.key, status: 200 });
  const rows = fixture.app.db.collection<{ _id: string }>('acknowledgement_requests');
  const isClosed = async () => (await rows.findOne({ _id: id, status: 'closed' })) !== null;
  await until('the row to be closed', isClosed);
  const closed = { status: 'closed', closed_at: archived_at };
  expect(await fixture.getRequest(ada.key, id)).toMatchObject(closed);
  await rows.updateOne({ _id: id }, { $set: { status: 'open', closed_at: null } });
  expect(await fixture.getRequest(ada.key, id)).toMatchObject(closed);
});

describe('an audience', () => {
  test('follows departments, joiners and leavers', async () => {
    const grace = await fixture.organization();
    const as = grace.key;
    for (const name of ['Line 1', 'Line 2'])
      await must(fixture.app, 'POST', '/departments', { as, body: { name } });
    const [one, two] = [await fixture.member(grace, 'Line 1'), await fixture.member(grace, 'Line 2')];
    const document = await fixture.publish(as);
    const { id } = await fixture.ask(as, document.id, { audience: { departments: ['Line 1'] } });
    const list = async () => (await fixture.listPeople(as, id)).map((person) => person.id);
    expect(await list()).toEqual([one.userId]);
    const body = { department: 'Line 1' };
    await must(fixture.app, 'PATCH', `/members/${two.userId}`, { as, body });
    expect(await list()).toEqual([one.userId, two.userId]);
    await must(fixture.app, 'DELETE', `/members/${one.userId}`, { as });
    expect(await list()).toEqual([two.userId]);
    const changed = { audience: { everyone: true }, due_days: 3 };
    const updated = await must(fixture.app, 'PATCH', `/acknowledgement-requests/${id}`, {
      as,
      body: changed,
    });
    expect(updated).toMatchObject({ due_days: 3, audience: { everyone: true, departments: [] } });
    expect(await list()).toEqual([grace.userId, two.userId]);
  });

  test('that is set again changes nothing and publishes no event', async () => {
    const document = await fixture.publish(ada.key);
    const audience = { departments: ['Ops'], member_ids: [ada.userId] };
    const { id, ...request } = await fixture.ask(ada.key, document.id, { audience, due_days: 14 });
    const path = `/acknowledgement-requests/${id}`;
    for (const body of [{ audience }, { due_days: 14 }, { audience, due_days: 14 }])
      expect(await must(fixture.app, 'PATCH', path, { as: ada.key, body })).toEqual({ id, ...request });
    const outbox = fixture.app.db.collection('sharing_outbox');
    const updates = { type: 'acknowledgement.request_updated', event: { $regex: id } };
    expect(await outbox.countDocuments(updates)).toBe(0);
    await must(fixture.app, 'PATCH', path, { as: ada.key, body: { due_days: 15 } });
    expect(await outbox.countDocuments(updates)).toBe(1);
  });

  test('names only members of the organization', async () => {
    const grace = await fixture.organization();
    const document = await fixture.publish(ada.key);
    const audience = { member_ids: [ada.userId, grace.userId] };
    const body = { document_id: document.id, audience };
    const response = await fixture.app.request('POST', '/acknowledgement-requests', { as: ada.key, body });
    expect(outcome(response)).toEqual([400, 'invalid_request']);
    expect(response.body.errors).toEqual([
      { path: 'body/audience/member_ids/1', message: 'The organization has no member with this id' },
    ]);
  });

  test('decides what awaits me', async () => {
    const grace = await fixture.organization();
    const document = await fixture.publish(grace.key);
    await fixture.ask(grace.key, document.id);
    const asking = await fixture.publish(grace.key);
    const { id } = await fixture.ask(grace.key, asking.id, { audience: { everyone: true } });
    const listMine = async () =>
      (await must(fixture.app, 'GET', '/acknowledgement-requests?awaiting=me', { as: grace.token })).map(
        (one: { id: string }) => one.id,
      );
    expect(await listMine()).toEqual([id]);
    await fixture.acknowledge(grace.token, asking);
    expect(await listMine()).toEqual([]);
    await fixture.revise(grace.key, asking.id, { title: 'Again' });
    expect(await listMine()).toEqual([id]);
  });
});
