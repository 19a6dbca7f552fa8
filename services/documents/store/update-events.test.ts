/** Update events under contention: two replicas over one MongoDB. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Store } from '#libs/store';
import { documentRow } from '../testing/rows.ts';
import { type OwnStores, ownStores } from '../testing/store-fixture.ts';
import { publishUpdate } from '../update-events.ts';
import { type DocumentRow, documents } from './collections.ts';
import { type Change, type DocumentRepository, documentRepository } from './document-repository.ts';
import { search } from './search.ts';
import { trees } from './tree.ts';
import { createDueUpdates } from './update-events.ts';

let own: OwnStores;
let replicas: Replica[];

interface Replica {
  library: DocumentRepository;
  /** Publishes all events, due or not: its clock is an hour ahead. */
  publishAll(): Promise<void>;
}

beforeAll(async () => {
  own = await ownStores(2);
  replicas = own.stores.map(openReplica);
}, 60_000);
beforeEach(async () => {
  await first().rows(documents).deleteMany({});
  await outbox().deleteMany({});
});
afterAll(() => own?.stop());

function openReplica(store: Store): Replica {
  const anHourAhead = () => new Date(Date.now() + 3_600_000);
  const dueUpdates = createDueUpdates(store, anHourAhead);
  return {
    library: documentRepository(store, { trees: trees(store), search: search(store) }, () => new Date()),
    async publishAll() {
      for (const due of await dueUpdates.find(100)) await publishUpdate({ store, dueUpdates }, due);
    },
  };
}

function first(): Store {
  const [store] = own.stores;
  if (!store) throw new Error('There is no store');
  return store;
}

const outbox = () => first().rows(documents).db.collection('documents_outbox');
const anyone = { authorize: () => undefined, ifMatch: undefined };
const actingOn = ({ organization_id }: DocumentRow) => ({ organization_id, user_id: null });
const rowOf = ({ _id }: DocumentRow) => first().rows(documents).findOne({ _id }).lean();

/** The titles in the events, the oldest first. */
async function publishedTitles(): Promise<string[]> {
  const rows = await outbox().find().sort({ _id: 1 }).toArray();
  return rows.map(({ event }) => JSON.parse(event).data.document.title);
}

/** Changes a row in one of the two ways that there are; gives the document after it. */
async function changeBy(
  way: 'change' | 'changeRow',
  { library }: Replica,
  row: DocumentRow,
  decide: () => Promise<Change>,
): Promise<DocumentRow> {
  if (way === 'changeRow') return library.changeRow(actingOn(row), row._id, anyone, decide);
  return library.change(actingOn(row), row._id, anyone, async () => ({
    change: await decide(),
    reply: (document: DocumentRow) => document,
  }));
}

/** A published document whose title changed, with an event that is not published yet. */
async function changedDocument(): Promise<DocumentRow> {
  const [{ library }] = replicas as [Replica];
  const row = documentRow({ status: 'published', published_at: new Date(), title: 'Old' });
  await library.create(actingOn(row), row, []);
  return library.changeRow(actingOn(row), row._id, anyone, async () => ({ title: 'Changed' }));
}

test.each(['change', 'changeRow'] as const)(
  '%s schedules a new event if the old one is taken',
  async (way) => {
    const [here, there] = replicas as [Replica, Replica];
    const row = await changedDocument();
    let runs = 0;
    await changeBy(way, here, row, async () => {
      runs += 1;
      if (runs === 1) await there.publishAll();
      return { title: 'Last' };
    });
    expect([runs, await publishedTitles()]).toEqual([2, ['Changed']]);
    expect((await rowOf(row))?.update_event_due_at).toBeInstanceOf(Date);
    await there.publishAll();
    expect(await publishedTitles()).toEqual(['Changed', 'Last']);
  },
);

test('the last change is always announced while replicas change and publish', async () => {
  const [here, there] = replicas as [Replica, Replica];
  const row = await changedDocument();
  for (let round = 0; round < 20; round += 1) {
    const change = async () => ({ title: `Round ${round}` });
    await Promise.all([
      changeBy(round % 2 ? 'change' : 'changeRow', here, row, change),
      there.publishAll(),
      here.publishAll(),
    ]);
    const isDue = (await rowOf(row))?.update_event_due_at !== undefined;
    expect([round, isDue || (await publishedTitles()).at(-1) === `Round ${round}`]).toEqual([round, true]);
  }
});

test('replicas that find the same event publish it once', async () => {
  for (let times = 0; times < 10; times += 1) await changedDocument();
  await Promise.all([...replicas, ...replicas].map((replica) => replica.publishAll()));
  expect(await publishedTitles()).toHaveLength(10);
});

test('publishing an event changes nothing but its due time', async () => {
  const { update_event_due_at, ...row } = await changedDocument();
  await replicas[0]?.publishAll();
  expect(update_event_due_at).toBeInstanceOf(Date);
  expect(await rowOf(row)).toEqual(row);
});

test('a document that was archived gets no event and keeps no due time', async () => {
  const [here] = replicas as [Replica];
  const row = await changedDocument();
  const archived = await changeBy('change', here, row, async () => ({ status: 'archived' }));
  expect(archived.update_event_due_at).toBeInstanceOf(Date);
  await here.publishAll();
  expect([await publishedTitles(), (await rowOf(row))?.update_event_due_at]).toEqual([[], undefined]);
});
