/** Tests update events with two concurrent replicas and one MongoDB. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Actor, Store } from '#libs/store';
import { documentRow } from '../testing/rows.ts';
import { createTestRepository, type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { publishUpdate } from '../update-events.ts';
import { type DocumentRow, documents } from './collections.ts';
import type { Change } from './document-change.ts';
import type { DocumentRepository } from './document-repository.ts';
import { createDueUpdates } from './update-events.ts';

let fixture: DocumentStores;
let replicas: Replica[];

interface Replica {
  repository: DocumentRepository;
  /** Publishes all events, whether due or not, because its clock is an hour ahead. */
  publishAll(): Promise<void>;
}

beforeAll(async () => {
  fixture = await openDocumentStores(2);
  replicas = fixture.stores.map(openReplica);
});
beforeEach(async () => {
  await firstStore().rows(documents).deleteMany({});
  await outbox().deleteMany({});
});
afterAll(() => fixture?.stop());

function openReplica(store: Store): Replica {
  const anHourAhead = () => new Date(Date.now() + 3_600_000);
  const dueUpdates = createDueUpdates(store, anHourAhead);
  return {
    repository: createTestRepository(store),
    async publishAll() {
      for (const due of await dueUpdates.find(100)) await publishUpdate({ store, dueUpdates }, due);
    },
  };
}

function firstStore(): Store {
  const [store] = fixture.stores;
  if (!store) throw new Error('There is no store');
  return store;
}

const outbox = () => firstStore().rows(documents).db.collection('documents_outbox');
const anyone = { authorize: () => undefined };
const toActor = ({ organization_id }: DocumentRow) => ({ organization_id, user_id: null });
const findRow = ({ _id }: DocumentRow) => firstStore().rows(documents).findOne({ _id }).lean();

/** Returns the titles in the events, oldest first. */
async function publishedTitles(): Promise<string[]> {
  const rows = await outbox().find().sort({ _id: 1 }).toArray();
  return rows.map(({ event }) => JSON.parse(event).data.document.title);
}

/** Updates a row with or without a transaction and returns the changed document. */
async function update(
  way: 'with' | 'without',
  { repository }: Replica,
  row: DocumentRow,
  decide: () => Promise<Change>,
): Promise<DocumentRow> {
  const updateAs = async (actor: Actor) =>
    (await repository.update(actor, row._id, anyone, async () => ({ change: await decide() }))).document;
  return way === 'with' ? repository.respond(toActor(row), row._id, updateAs) : updateAs(toActor(row));
}

/** Creates a published document whose title changed and whose event is not published yet. */
async function createChangedDocument(): Promise<DocumentRow> {
  const [here] = replicas as [Replica];
  const row = documentRow({ status: 'published', published_at: new Date(), title: 'Old' });
  await here.repository.create(await here.repository.prepareCharge(toActor(row)), row, []);
  return update('without', here, row, async () => ({ title: 'Changed' }));
}

test.each(['with', 'without'] as const)(
  'an update %s a transaction schedules a new event if the old is taken',
  async (way) => {
    const [here, there] = replicas as [Replica, Replica];
    const row = await createChangedDocument();
    let runs = 0;
    await update(way, here, row, async () => {
      runs += 1;
      if (runs === 1) await there.publishAll();
      return { title: 'Last' };
    });
    expect([runs, await publishedTitles()]).toEqual([2, ['Changed']]);
    expect((await findRow(row))?.update_event_due_at).toBeInstanceOf(Date);
    await there.publishAll();
    expect(await publishedTitles()).toEqual(['Changed', 'Last']);
  },
);

test('the last change is always announced while replicas change and publish', async () => {
  const [here, there] = replicas as [Replica, Replica];
  const row = await createChangedDocument();
  for (let round = 0; round < 20; round += 1) {
    const change = async () => ({ title: `Round ${round}` });
    await Promise.all([
      update(round % 2 ? 'with' : 'without', here, row, change),
      there.publishAll(),
      here.publishAll(),
    ]);
    const isDue = (await findRow(row))?.update_event_due_at !== undefined;
    expect([round, isDue || (await publishedTitles()).at(-1) === `Round ${round}`]).toEqual([round, true]);
  }
});

test('replicas that find the same event publish it once', async () => {
  for (let times = 0; times < 10; times += 1) await createChangedDocument();
  await Promise.all([...replicas, ...replicas].map((replica) => replica.publishAll()));
  expect(await publishedTitles()).toHaveLength(10);
});

test('publishing an event changes nothing but its due time', async () => {
  const { update_event_due_at, ...row } = await createChangedDocument();
  await replicas[0]?.publishAll();
  expect(update_event_due_at).toBeInstanceOf(Date);
  expect(await findRow(row)).toEqual(row);
});

test('a document that was archived gets no event and keeps no due time', async () => {
  const [here] = replicas as [Replica];
  const row = await createChangedDocument();
  const archived = await update('with', here, row, async () => ({ status: 'archived' }));
  expect(archived.update_event_due_at).toBeInstanceOf(Date);
  await here.publishAll();
  expect([await publishedTitles(), (await findRow(row))?.update_event_due_at]).toEqual([[], undefined]);
});
