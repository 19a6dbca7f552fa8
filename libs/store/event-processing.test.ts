/** Tests of events that are handled in turn, in one transaction, and by several subscribers. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import { dispatchByType, on } from '#libs/events';
import type { Store, Transaction } from '#libs/store';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  ThingMade,
  things,
} from '../testing/store-fixture.ts';

let fixture: StoreFixture;
let store: Store;

beforeAll(async () => {
  fixture = await storeFixture();
  store = await fixture.open();
});
afterAll(() => fixture?.stop());

const createEvent = (organization_id = newId()): Envelope => ({
  ...{ id: newId(), type: ThingMade.name, occurred_at: new Date().toISOString() },
  ...{ organization_id, actor_id: null, data: { name: 'consumed' } },
});
const add = (name: string, tx: Transaction) => createThing(store, { ...createActor(), ...{ tx } }, name);
const count = (name: string) => store.rows(things).countDocuments({ name });

test('events of one organization share transactions, in their order', async () => {
  const organization = newId();
  const [order, sessions]: [number[], Set<unknown>] = [[], new Set()];
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      store.processInTurn(createEvent(organization), async (tx) => {
        order.push(at);
        sessions.add(tx.session);
        await add('in turn', tx);
      }),
    ),
  );
  expect(results).toEqual(Array(50).fill(true));
  expect(order).toEqual([...Array(50).keys()]);
  expect([sessions.size, await count('in turn')]).toEqual([2, 50]);
});

test('an event that arrives several times has one effect', async () => {
  const organization = newId();
  const [one, other] = [createEvent(organization), createEvent(organization)];
  const handle = (event: Envelope) =>
    store.processInTurn(event, async (tx) => void (await add('several', tx)));
  expect(await Promise.all([one, other, one, one, other].map(handle))).toEqual([
    ...[true, true, false, false, false],
  ]);
  expect([await handle(one), await count('several')]).toEqual([false, 2]);
});

test('an event that fails does not stop the others', async () => {
  const organization = newId();
  const results = await Promise.allSettled(
    ['good', 'bad', 'good', 'bad', 'good'].map((name) =>
      store.processInTurn(createEvent(organization), async (tx) => {
        await add(name, tx);
        if (name === 'bad') throw new Error('no effect');
      }),
    ),
  );
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
  expect([await count('good'), await count('bad')]).toEqual([3, 0]);
});

test('subscribers of one event have an effect together or not at all', async () => {
  let isBroken = true;
  const first = on(ThingMade, (event) =>
    store.processOnce(event, async (tx) => void (await add('first', tx))),
  );
  const second = on(ThingMade, (event) =>
    store.processOnce(event, async (tx) => {
      await add('second', tx);
      if (isBroken) throw new Error('not yet');
    }),
  );
  const dispatch = dispatchByType([first, second], store.processTogether);
  const event = createEvent();
  const { signal } = new AbortController();
  await expect(dispatch(event, signal)).rejects.toThrow('not yet');
  expect([await count('first'), await count('second')]).toEqual([0, 0]);
  isBroken = false;
  await dispatch(event, signal);
  await dispatch(event, signal);
  expect([await count('first'), await count('second')]).toEqual([1, 1]);
});

test('several subscribers of one event need a way to share a transaction', () => {
  const subscriber = on(ThingMade, async () => undefined);
  expect(() => dispatchByType([subscriber, subscriber])).toThrow('thing.made has several subscribers');
});

test('an event names the API key and the request of its change', async () => {
  const [key_id, actor] = [newId(), createActor()];
  const publish = (more: object) =>
    store.transact({ ...actor, ...more }, async (tx) => {
      tx.publish(ThingMade, { name: 'by key' });
      return tx.pendingEvents[0];
    });
  expect(await publish({ key_id, request_id: 'r-1' })).toMatchObject({
    api_key_id: key_id,
    request_id: 'r-1',
  });
  const event = await publish({ key_id: null });
  expect(event).not.toHaveProperty('api_key_id');
  expect(event).not.toHaveProperty('request_id');
});
