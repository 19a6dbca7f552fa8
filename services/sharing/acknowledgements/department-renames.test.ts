/** Tests that requests keep asking the members of a department that is renamed. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import { type AnyJson, must, type Person, until } from '#libs/testing';
import { type AcknowledgementFixture, acknowledgementFixture, outcome } from '../testing/acknowledgements.ts';

let fixture: AcknowledgementFixture;
let nowMs = Date.now();

beforeAll(async () => {
  fixture = await acknowledgementFixture({ now: () => new Date(nowMs) });
}, 120_000);
afterAll(() => fixture?.app.stop());

const createDepartment = async (admin: Person, name: string): Promise<string> =>
  (await must(fixture.app, 'POST', '/departments', { as: admin.key, body: { name }, status: 201 })).id;

const rename = (admin: Person, id: string, name: string) =>
  must(fixture.app, 'PATCH', `/departments/${id}`, { as: admin.key, body: { name } });

/** Requests the acknowledgement of a new document. */
async function ask(admin: Person, audience: object) {
  const document = await fixture.publish(admin.key);
  return { document, request: await fixture.ask(admin.key, document.id, { audience }) };
}

const getDepartments = async (admin: Person, requestId: string): Promise<string[]> =>
  (await fixture.getRequest(admin.key, requestId)).audience.departments;

/** A row of a request. */
interface StoredRequest {
  _id: string;
  status: string;
  audience: { departments: string[] };
}
const requestRows = () => fixture.app.db.collection<StoredRequest>('acknowledgement_requests');

/** Waits until the row of a request has these names. */
const waitForDepartments = (requestId: string, expected: readonly string[]) =>
  until(`the departments ${expected}`, async () => {
    const row = await requestRows().findOne({ _id: requestId });
    return JSON.stringify(row?.audience.departments) === JSON.stringify(expected);
  });

/** A row of an outbox; `event` is JSON text. */
interface OutboxRow {
  _id: string;
  event: string;
}
const outbox = (service: string) => fixture.app.db.collection<OutboxRow>(`${service}_outbox`);

/** The events of the renames in an organization, in their order. */
async function listRenames({ organizationId }: Person): Promise<Envelope<{ after: string }>[]> {
  const rows = await outbox('identity')
    .find({ type: 'department.renamed' })
    .sort({ created_at: 1 })
    .toArray();
  return rows.map(parseEvent).filter(({ organization_id }) => organization_id === organizationId);
}

/** Publishes an event with another id, and waits until sharing has processed it. */
async function publishAgain(event: Envelope): Promise<void> {
  const id = newId();
  const [row] = await outbox('identity').find({ _id: event.id }).toArray();
  const { published_at, ...rest } = { published_at: null, ...row };
  const pending = { pending: true, lease_until: new Date(0), event: JSON.stringify({ ...event, id }) };
  await outbox('identity').insertOne({ ...rest, ...pending, _id: id });
  await waitUntilProcessed(id);
}

const waitUntilProcessed = (id: string) =>
  until('sharing to process the event', async () => {
    const inbox = fixture.app.db.collection<{ _id: string }>('sharing_inbox');
    return (await inbox.findOne({ _id: id })) !== null;
  });

const parseEvent = ({ event }: OutboxRow): AnyJson => JSON.parse(event);

/** The names of the events of a request so far. */
async function listEvents(requestId: string): Promise<string[]> {
  const events = (await outbox('sharing').find().toArray()).map(parseEvent);
  return events.filter(({ data }) => data.request?.id === requestId).map(({ type }) => type);
}

describe('after a department was renamed', () => {
  test('a request asks its members by the new name', async () => {
    const ada = await fixture.organization();
    const ops = await createDepartment(ada, 'Ops');
    const member = await fixture.member(ada, 'Ops');
    const { document, request } = await ask(ada, { departments: ['Sales', 'Ops'] });
    await rename(ada, ops, 'Operations');
    await waitForDepartments(request.id, ['Sales', 'Operations']);
    expect((await fixture.listPeople(ada.key, request.id)).map(({ id }) => id)).toEqual([member.userId]);
    expect(outcome(await fixture.acknowledge(member.token, document))).toEqual([201, undefined]);
  });

  test('a request is not completed before its members acknowledge', async () => {
    const ada = await fixture.organization();
    const ops = await createDepartment(ada, 'Ops');
    const member = await fixture.member(ada, 'Ops');
    const audience = { departments: ['Ops'], member_ids: [ada.userId] };
    const { document, request } = await ask(ada, audience);
    await rename(ada, ops, 'Operations');
    expect((await fixture.acknowledge(ada.token, document)).status).toBe(201);
    await waitForDepartments(request.id, ['Operations']);
    const [made] = await outbox('sharing')
      .find({ type: 'acknowledgement.made', event: { $regex: request.id } })
      .toArray();
    await waitUntilProcessed(made?._id ?? '');
    expect(await listEvents(request.id)).not.toContain('acknowledgement.completed');
    await fixture.acknowledge(member.token, document);
    const isCompleted = async () => (await listEvents(request.id)).includes('acknowledgement.completed');
    await until('the completion', isCompleted);
  });

  test('a request is overdue if its members have not acknowledged', async () => {
    const ada = await fixture.organization();
    const ops = await createDepartment(ada, 'Ops');
    await fixture.member(ada, 'Ops');
    const { request } = await ask(ada, { departments: ['Ops'] });
    await rename(ada, ops, 'Operations');
    nowMs += 15 * 86_400_000;
    const isOverdue = async () => (await listEvents(request.id)).includes('acknowledgement.overdue');
    await until('the event', isOverdue);
  });

  test('closed requests and other organizations keep the name', async () => {
    const [ada, bob] = [await fixture.organization(), await fixture.organization()];
    const ops = await createDepartment(ada, 'Ops');
    const audience = { departments: ['Ops'] };
    const [open, closed, other] = [
      await ask(ada, audience),
      await ask(ada, audience),
      await ask(bob, audience),
    ];
    await must(fixture.app, 'POST', `/acknowledgement-requests/${closed.request.id}/close`, { as: ada.key });
    await rename(ada, ops, 'Operations');
    await waitForDepartments(open.request.id, ['Operations']);
    expect(await getDepartments(ada, closed.request.id)).toEqual(['Ops']);
    expect(await getDepartments(bob, other.request.id)).toEqual(['Ops']);
  });
});

describe('before the event of a rename is processed', () => {
  /** A request and its row, as it is until the event is processed. */
  async function askBeforeRename() {
    const ada = await fixture.organization();
    const ops = await createDepartment(ada, 'Ops');
    const member = await fixture.member(ada, 'Ops');
    const { request } = await ask(ada, { departments: ['Ops'] });
    const row = await requestRows().findOne({ _id: request.id });
    if (!row) throw new Error('The request has no row');
    await rename(ada, ops, 'Operations');
    await waitForDepartments(request.id, ['Operations']);
    await requestRows().replaceOne({ _id: request.id }, row);
    return { ada, member, id: request.id as string };
  }

  test('a request shows its members and the new name', async () => {
    const { ada, member, id } = await askBeforeRename();
    const list = (query = '') =>
      must(fixture.app, 'GET', `/acknowledgement-requests${query}`, { as: member.token });
    const { audience, totals } = await fixture.getRequest(ada.key, id);
    expect([audience.departments, totals.people]).toEqual([['Operations'], 1]);
    expect((await fixture.listPeople(ada.key, id)).map((person) => person.id)).toEqual([member.userId]);
    for (const query of ['', '?awaiting=me'])
      expect(await list(query)).toMatchObject([{ id, audience: { departments: ['Operations'] } }]);
  });

  test('a request is closed with the new name', async () => {
    const { ada, id } = await askBeforeRename();
    const path = `/acknowledgement-requests/${id}/close`;
    const closed = await must(fixture.app, 'POST', path, { as: ada.key, status: 200 });
    expect(closed.audience.departments).toEqual(['Operations']);
    expect(await getDepartments(ada, id)).toEqual(['Operations']);
  });

  test('a request whose document is archived is closed with the new name', async () => {
    const { ada, id } = await askBeforeRename();
    const { document_id } = await fixture.getRequest(ada.key, id);
    await must(fixture.app, 'POST', `/documents/${document_id}/archive`, { as: ada.key, status: 200 });
    await until(
      'the closed row',
      async () => (await requestRows().findOne({ _id: id }))?.status === 'closed',
    );
    expect(await getDepartments(ada, id)).toEqual(['Operations']);
  });
});

describe('several renames', () => {
  test('are followed in any order of their events, also if one comes twice', async () => {
    const ada = await fixture.organization();
    const [first, second] = [await createDepartment(ada, 'A'), await createDepartment(ada, 'B')];
    const asked = [['A'], ['B'], ['B', 'C', 'A']];
    const early: string[] = [];
    for (const departments of asked) early.push((await ask(ada, { departments })).request.id);
    const rows = await requestRows()
      .find({ _id: { $in: early } })
      .toArray();
    // the departments exchange their names
    await rename(ada, first, 'D');
    await rename(ada, second, 'A');
    await rename(ada, first, 'B');
    const { request: late } = await ask(ada, { departments: ['A', 'B'] });
    const expected = [['B'], ['A'], ['A', 'C', 'B']];
    for (const [at, id] of early.entries()) await waitForDepartments(id, expected[at] ?? []);
    const renames = await listRenames(ada);
    expect(renames.map(({ data }) => data.after)).toEqual(['D', 'A', 'B']);
    for (const row of rows) await requestRows().replaceOne({ _id: row._id }, row);
    for (const event of [...renames, ...renames].reverse()) await publishAgain(event);
    const names = await Promise.all(early.map((id) => getDepartments(ada, id)));
    expect([...names, await getDepartments(ada, late.id)]).toEqual([...expected, ['A', 'B']]);
  });

  test('from before a new audience do not change it', async () => {
    const ada = await fixture.organization();
    const [ops, shops] = [await createDepartment(ada, 'Ops'), await createDepartment(ada, 'Shops')];
    const { request } = await ask(ada, { departments: ['Shops'] });
    await rename(ada, ops, 'Operations');
    await rename(ada, shops, 'Ops');
    await waitForDepartments(request.id, ['Ops']);
    const audience = { departments: ['Ops', 'Shops'] };
    await must(fixture.app, 'PATCH', `/acknowledgement-requests/${request.id}`, {
      as: ada.key,
      body: { audience },
    });
    for (const event of await listRenames(ada)) await publishAgain(event);
    expect(await getDepartments(ada, request.id)).toEqual(['Ops', 'Shops']);
  });
});
