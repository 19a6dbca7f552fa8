/** Tests of the events and notifications of acknowledgement, with the clock of the services. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { must, until } from '#libs/testing';
import { type AcknowledgementFixture, acknowledgementFixture } from '../testing/acknowledgements.ts';

let fixture: AcknowledgementFixture;
let nowMs = Date.now();

beforeAll(async () => {
  fixture = await acknowledgementFixture({ now: () => new Date(nowMs) });
}, 120_000);
afterAll(() => fixture?.app.stop());

const subscribable = ['requested', 'made', 'completed', 'overdue'];

/** The types of the events of a request so far that webhooks may subscribe to, sorted. */
async function listEvents(requestId: string): Promise<string[]> {
  const rows = await fixture.app.db.collection('sharing_outbox').find().toArray();
  return rows
    .map(({ event }) => JSON.parse(event))
    .filter(({ data }) => (data.request?.id ?? data.acknowledgement?.request_id) === requestId)
    .map(({ type }) => type.replace('acknowledgement.', ''))
    .filter((type) => subscribable.includes(type))
    .sort();
}

const waitForEvents = (requestId: string, expected: readonly string[]) =>
  until(`the events ${expected}`, async () => {
    const events = await listEvents(requestId);
    return events.length >= expected.length && expect(events).toEqual([...expected].sort()) === undefined;
  });

/** Publishes the last event of a type once more, as a new event, and waits until sharing has handled it. */
async function repeatEvent(type: string): Promise<void> {
  const outbox = fixture.app.db.collection<{ _id: string; [field: string]: unknown }>('sharing_outbox');
  const last = await outbox.findOne({ type }, { sort: { _id: -1 } });
  const _id = newId();
  const event = JSON.stringify({ ...JSON.parse(`${last?.event}`), id: _id });
  const pending = { pending: true, lease_until: new Date(0), failures: 0, created_at: new Date() };
  await outbox.insertOne({ _id, type, event, ...pending });
  const inbox = fixture.app.db.collection<{ _id: string }>('sharing_inbox');
  await until('the event is handled', async () => (await inbox.findOne({ _id })) !== null);
}

async function getInboxTypes(as: string): Promise<string[]> {
  const items: { type: string }[] = await must(fixture.app, 'GET', '/inbox', { as });
  return items.map(({ type }) => type).filter((type) => type.startsWith('acknowledgement'));
}

describe('the events of a request', () => {
  test('come with each baseline, and completed once', async () => {
    const ada = await fixture.organization();
    const guest = await fixture.member(ada);
    const document = await fixture.publish(ada.key);
    const audience = { member_ids: [ada.userId, guest.userId] };
    const { id } = await fixture.ask(ada.key, document.id, { audience });
    await until('the notification', async () => (await getInboxTypes(guest.token)).length === 1);
    expect(await getInboxTypes(guest.token)).toEqual(['acknowledgement.requested']);
    // two last people at the same time
    const both = [ada, guest].map(({ token }) => fixture.acknowledge(token, document));
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([201, 201]);
    await waitForEvents(id, ['requested', 'made', 'made', 'completed']);
    const minor = await fixture.revise(ada.key, document.id, { minor_change: true });
    await fixture.acknowledge(ada.token, minor);
    const major = await fixture.revise(ada.key, minor.id);
    const known = ['requested', 'made', 'made', 'completed', 'made', 'requested'];
    await waitForEvents(id, known);
    for (const { token } of [ada, guest]) await fixture.acknowledge(token, major);
    await waitForEvents(id, [...known, 'made', 'made', 'completed']);
  });

  test('a refired event asks nobody again', async () => {
    const ada = await fixture.organization();
    const document = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, document.id, { audience: { everyone: true } });
    const revised = await fixture.revise(ada.key, document.id);
    await waitForEvents(id, ['requested', 'requested']);
    const body = { event_type: 'document.revised' };
    await must(fixture.app, 'POST', `/documents/${revised.id}/trigger-webhooks`, { as: ada.key, body });
    await fixture.acknowledge(ada.token, revised);
    await waitForEvents(id, ['requested', 'requested', 'made', 'completed']);
  });

  test('an acknowledgement of a closed request does not complete the next one', async () => {
    const ada = await fixture.organization();
    const document = await fixture.publish(ada.key);
    const closed = await fixture.ask(ada.key, document.id, { audience: { everyone: true } });
    await fixture.acknowledge(ada.token, document);
    await waitForEvents(closed.id, ['requested', 'made', 'completed']);
    await must(fixture.app, 'POST', `/acknowledgement-requests/${closed.id}/close`, { as: ada.key });
    const { id } = await fixture.ask(ada.key, document.id);
    await repeatEvent('acknowledgement.made');
    expect(await listEvents(id)).toEqual(['requested']);
    const [reader] = await fixture.addReaders(ada.key, id, ['E-1042']);
    await fixture.submit(reader?.url, { content_hash: document.content_hash });
    await waitForEvents(id, ['requested', 'made', 'completed']);
  });

  test('archiving closes the request', async () => {
    const ada = await fixture.organization();
    const document = await fixture.publish(ada.key);
    const { id } = await fixture.ask(ada.key, document.id, { audience: { everyone: true } });
    await must(fixture.app, 'POST', `/documents/${document.id}/archive`, { as: ada.key });
    expect((await fixture.getRequest(ada.key, id)).status).toBe('closed');
    await until(
      'the row to be closed',
      async () => (await fixture.getRequest(ada.key, id)).closed_at !== null,
    );
  });

  test('overdue comes once with two replicas, and only if somebody is late', async () => {
    await fixture.app.replica();
    const ada = await fixture.organization();
    const [late, done] = [await fixture.publish(ada.key), await fixture.publish(ada.key)];
    const body = { audience: { everyone: true }, due_days: 2 };
    const { id } = await fixture.ask(ada.key, late.id, body);
    const { id: completed } = await fixture.ask(ada.key, done.id, body);
    await fixture.acknowledge(ada.token, done);
    nowMs += 2 * 86_400_000 + 60_000;
    await waitForEvents(id, ['requested', 'overdue']);
    const requests = fixture.app.db.collection<{ _id: string }>('acknowledgement_requests');
    const isChecked = async () =>
      ((await requests.findOne({ _id: completed })) as { overdue_at?: Date } | null)?.overdue_at ===
      undefined;
    await until('the check of the completed request', isChecked);
    expect(await listEvents(completed)).toEqual(['completed', 'made', 'requested']);
    // a changed due date of the same baseline does not repeat the event, a new baseline does
    const changed = { as: ada.key, body: { due_days: 1 } };
    await must(fixture.app, 'PATCH', `/acknowledgement-requests/${id}`, changed);
    await fixture.revise(ada.key, late.id);
    await waitForEvents(id, ['requested', 'overdue', 'requested']);
    nowMs += 86_400_000 + 60_000;
    await waitForEvents(id, ['requested', 'overdue', 'requested', 'overdue']);
    // the check of a request in which nobody was late is repeated when its audience changes
    const guest = await fixture.member(ada);
    const widened = { as: ada.key, body: { audience: { member_ids: [ada.userId, guest.userId] } } };
    await must(fixture.app, 'PATCH', `/acknowledgement-requests/${completed}`, widened);
    await waitForEvents(completed, ['requested', 'made', 'completed', 'overdue']);
  });
});
