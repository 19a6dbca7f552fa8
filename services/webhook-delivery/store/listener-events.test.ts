/** Tests the events of listeners on a real MongoDB: no event is lost or skipped, whatever commits first. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { profileCommands, until } from '#libs/testing';
import { openTestStore, type TestStore } from '../testing/store-fixture.ts';
import { webhookListenerEvents } from './collections.ts';
import { createListenerEvents } from './listener-events.ts';
import type { NewEvent } from './new-deliveries.ts';

const organization_id = newId();
const now = () => new Date();

let fixture: TestStore;

beforeAll(async () => {
  fixture = await openTestStore();
});
afterAll(() => fixture?.stop());

const createEvent = (): NewEvent => ({
  ...{ event_id: newId(), event_type: 'document.published', organization_id },
  ...{ document_id: null, body: '{}' },
});

/** Pauses for a random time before every insert of events. */
function withRandomPauses(store: Store): Pick<Store, 'rows'> {
  const rows: Store['rows'] = (collection) => {
    const model = store.rows(collection);
    const insertMany = async (...all: Parameters<typeof model.insertMany>) => {
      await pause(Math.random() * 20);
      return model.insertMany(...all);
    };
    return Object.create(model, { insertMany: { value: insertMany } });
  };
  return { rows };
}

test('a reader gets every event that several processes add', async () => {
  const [listenerId, otherId] = [newId(), newId()];
  const writers = await Promise.all([fixture.replica(), fixture.replica(), fixture.replica()]);
  const reader = createListenerEvents(await fixture.replica(), now);
  const events = Array.from({ length: 299 }, createEvent);
  const repositories = writers.map((store) => createListenerEvents(withRandomPauses(store), now));
  const add = async (event: NewEvent, at: number) =>
    repositories[at % repositories.length]?.add(event, [listenerId, otherId]);
  const received: string[] = [];
  const receive = async () => {
    const ids = (await reader.list(listenerId, 10)).map(({ event_id }) => event_id);
    if (ids.length > 0) await reader.delete(listenerId, ids);
    received.push(...ids);
  };
  // the ids are in order, the commits are not: the last one is the first, and the others are in a random order
  const last = createEvent();
  await add(last, 0);
  await receive();
  const adding = events.map(async (event, at) => {
    await pause(Math.random() * 1_000);
    await add(event, at);
  });
  await until('all events', async () => {
    await receive();
    return received.length > events.length;
  });
  await Promise.all(adding);
  // like other databases of a replica set, this one has no time at which all smaller ids are committed
  expect(received).not.toEqual(received.toSorted());
  expect(received.toSorted()).toEqual([...events, last].map(({ event_id }) => event_id).sort());
  expect(await reader.list(otherId, 1_000)).toHaveLength(300);
});

test('an event that several processes add at once is stored once', async () => {
  const listenerId = newId();
  const stores = await Promise.all([fixture.replica(), fixture.replica()]);
  const event = createEvent();
  const adding = stores.flatMap((store) => {
    const { add } = createListenerEvents(withRandomPauses(store), now);
    return Array.from({ length: 4 }, () => add(event, [listenerId]));
  });
  await Promise.all(adding);
  expect(await createListenerEvents(fixture.store, now).list(listenerId, 10)).toHaveLength(1);
});

test('an event that the check for events finds is in the list', async () => {
  const { add, list, findWithEvents } = createListenerEvents(fixture.store, now);
  for (let count = 0; count < 200; count += 1) {
    const listenerId = newId();
    const adding = add(createEvent(), [listenerId]);
    while ((await findWithEvents([listenerId])).length === 0);
    expect(await list(listenerId, 10)).toHaveLength(1);
    await adding;
  }
});

test('a failed insert fails the event, and a repetition adds the rest', async () => {
  const [failing, working] = [newId(), newId()];
  const rows: Store['rows'] = (collection) => {
    const model = fixture.store.rows(collection);
    const insertMany = (newRows: { listener_id: string }[], options: object) =>
      newRows[0]?.listener_id === failing
        ? Promise.reject(new Error('down'))
        : model.insertMany(newRows, options);
    return Object.create(model, { insertMany: { value: insertMany } });
  };
  const event = createEvent();
  await expect(createListenerEvents({ rows }, now).add(event, [failing, working])).rejects.toThrow('down');
  const { add, list } = createListenerEvents(fixture.store, now);
  await add(event, [failing, working]);
  for (const id of [failing, working]) expect(await list(id, 10)).toHaveLength(1);
});

test('a page of events and the check for events read little', async () => {
  const { add, list, findWithEvents } = createListenerEvents(fixture.store, now);
  const ids = [newId(), newId(), newId()] as const;
  const events = Array.from({ length: 200 }, createEvent);
  await Promise.all(events.map((event) => add(event, ids.slice(0, 2))));
  const { db } = fixture.store.rows(webhookListenerEvents).db;
  if (!db) throw new Error('The connection has no database');
  const commands = await profileCommands(db, async () => {
    expect(await list(ids[0], 10)).toHaveLength(10);
    expect((await findWithEvents(ids)).sort()).toEqual([ids[0], ids[1]].sort());
  });
  const majority = { level: 'majority' };
  const reads = commands.filter(({ collection }) => collection === webhookListenerEvents.name);
  expect(reads.map(({ command }) => command.readConcern)).toEqual([majority, majority]);
  for (const { docsExamined, keysExamined } of reads)
    expect(Math.max(docsExamined, keysExamined)).toBeLessThanOrEqual(10);
});
