/** Tests of `processOnce` (events, by the inbox) and of `withIdempotencyKey` (requests). */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Envelope,
  IdempotencyKeyInFlight,
  IdempotencyKeyReused,
  NotFound,
  newId,
  type Problem,
} from '#libs/contract';
import type { Store, StoredResponse } from '#libs/store';
import { profileCommands } from '#libs/testing';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  things,
} from '../testing/store-fixture.ts';

let fixture: StoreFixture;
let store: Store;

beforeAll(async () => {
  fixture = await storeFixture();
  store = await fixture.open();
});
afterAll(() => fixture?.stop());

type TestActor = ReturnType<typeof createActor>;

const count = (name: string) => store.rows(things).countDocuments({ name });

describe('processOnce', () => {
  const createEvent = (): Envelope => ({
    id: newId(),
    type: 'thing.made',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: {},
  });
  const effect = (event: Envelope, name: string) =>
    store.processOnce(event, async (tx) => {
      await createThing(store, { ...createActor(), ...{ tx } }, name);
    });
  const findInboxRow = (id: string) =>
    fixture.db.collection<{ _id: string }>('thing_producers_inbox').findOne({ _id: id });

  test('an event that is delivered twice has one effect', async () => {
    const event = createEvent();
    expect([await effect(event, 'twice'), await effect(event, 'twice')]).toEqual([true, false]);
    expect(await count('twice')).toBe(1);
  });

  test('an event that is delivered ten times at once has one effect', async () => {
    const event = createEvent();
    const results = await Promise.all(Array.from({ length: 10 }, () => effect(event, 'at once')));
    expect(results.filter(Boolean)).toEqual([true]);
    expect(await count('at once')).toBe(1);
  });

  test('a failed effect leaves no id in the inbox, so that it can be retried', async () => {
    const event = createEvent();
    const fails = store.processOnce(event, async (tx) => {
      await createThing(store, { ...createActor(), ...{ tx } }, 'again');
      throw new Error('not yet');
    });
    await expect(fails).rejects.toThrow('not yet');
    expect([await findInboxRow(event.id), await count('again')]).toEqual([null, 0]);
    await effect(event, 'again');
    expect(await findInboxRow(event.id)).not.toBeNull();
    expect(await count('again')).toBe(1);
  });

  test('a duplicate key in the effect rejects as an error', async () => {
    const ada = createActor();
    await createThing(store, ada, 'mine');
    const clash = store.processOnce(createEvent(), async (tx) => {
      await createThing(store, { ...ada, ...{ tx } }, 'mine');
    });
    await expect(clash).rejects.toMatchObject({ code: 11000 });
  });
});

describe('withIdempotencyKey', () => {
  const newClaim = (fingerprint = 'body') => ({ key: newId(), fingerprint });
  const created = (body: string): StoredResponse => ({ status: 201, headers: { ETag: '"1"' }, body });
  const decoded = (response: StoredResponse) => ({
    ...response,
    body: Buffer.from(response.body).toString(),
  });
  /** Runs work whose reply is the response. Returns the response, and whether it is a replay. */
  const run = async (
    claim: ReturnType<typeof newClaim>,
    work: (actor: TestActor) => Promise<StoredResponse>,
  ) => {
    const toResponse = (reply: unknown) => reply as StoredResponse;
    const result = await store.withIdempotencyKey(createActor(), { claim, toResponse }, (actor) =>
      store.respond(actor, work),
    );
    return 'stored' in result
      ? { ...decoded(result.stored), replayed: true }
      : { ...decoded(result.reply), replayed: false };
  };
  const request = (name: string, claim = newClaim()) =>
    run(claim, async (actor) => created(await createThing(store, actor, name)));

  test('a repeated claim replays the first response and has no effect', async () => {
    const claim = newClaim();
    const first = await request('replayed', claim);
    const second = await request('replayed', claim);
    expect(first.replayed).toBe(false);
    expect(second).toEqual({ ...first, replayed: true });
    expect(await count('replayed')).toBe(1);
  });

  test('requests of the same turn look up their keys together', async () => {
    const known = newClaim();
    await request('known', known);
    const names = ['one', 'two', 'three'];
    let replies: Awaited<ReturnType<typeof request>>[] = [];
    const commands = await profileCommands(fixture.db, async () => {
      replies = await Promise.all([...names.map((name) => request(name)), request('repeated', known)]);
    });
    expect(replies.map(({ replayed }) => replayed)).toEqual([false, false, false, true]);
    for (const name of ['known', ...names]) expect(await count(name)).toBe(1);
    expect(await count('repeated')).toBe(0);
    const lookups = commands.filter(
      ({ collection, op }) => collection === 'thing_producers_idempotency' && op === 'query',
    );
    expect(lookups).toHaveLength(1);
  });

  test('a response without a body is stored', async () => {
    const claim = newClaim();
    const empty = async () => ({ status: 204, headers: {}, body: '' });
    await run(claim, empty);
    expect(await run(claim, empty)).toEqual({ ...(await empty()), replayed: true });
  });

  test('a body over 1 MiB is replaced by its replay key if it has one', async () => {
    const replayKey = { id: newId() };
    const longest = 'é'.repeat(2 ** 19);
    for (const [body, more, replay] of [
      [longest, { replayKey }, { body: longest }],
      [`${longest}.`, { replayKey }, { body: '', replayKey }],
      [`${longest}.`, {}, { body: `${longest}.` }],
    ] as const) {
      const claim = newClaim();
      const long = async () => ({ ...created(body), ...more });
      expect(await run(claim, long)).toMatchObject({ body, replayed: false });
      expect(await run(claim, long)).toEqual({ ...created(''), ...replay, replayed: true });
    }
  });

  test('the same key with another body fails with IdempotencyKeyReused', async () => {
    const claim = newClaim();
    await request('reused', claim);
    const other = await request('reused', { ...claim, fingerprint: 'other' }).catch(
      (error: Problem) => error.kind,
    );
    expect(other).toBe(IdempotencyKeyReused);
    expect(await count('reused')).toBe(1);
  });

  test('twenty concurrent requests with one key have one effect', async () => {
    const claim = newClaim();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => request('storm', claim).catch((error: Problem) => error)),
    );
    expect(await count('storm')).toBe(1);
    const responses = outcomes.flatMap((outcome) => ('body' in outcome ? [outcome] : []));
    expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
    for (const outcome of outcomes)
      if (!('body' in outcome)) expect(outcome).toHaveProperty('kind', IdempotencyKeyInFlight);
    expect(await request('storm', claim)).toMatchObject({ replayed: true, body: responses[0]?.body });
  });

  test('a problem caused by a concurrent request fails as key in flight', async () => {
    const claim = newClaim();
    const late = run(claim, async () => {
      await request('faster', claim);
      throw NotFound();
    });
    await expect(late).rejects.toHaveProperty('kind', IdempotencyKeyInFlight);
    expect(await count('faster')).toBe(1);
  });

  test('work that fails stores neither its effect nor a response', async () => {
    const claim = newClaim();
    const fails = run(claim, async (actor) => {
      await createThing(store, actor, 'failed');
      throw new Error('no');
    });
    await expect(fails).rejects.toThrow('no');
    expect(await count('failed')).toBe(0);
    expect((await request('failed', claim)).replayed).toBe(false);
    expect(await count('failed')).toBe(1);
  });

  test('the response is committed in the transaction of the effect', async () => {
    const claim = newClaim();
    const responses = fixture.db.collection<{ _id: string }>('thing_producers_idempotency');
    await run(claim, async (actor) => {
      const id = await createThing(store, actor, 'together');
      expect([await count('together'), await responses.countDocuments({ _id: claim.key })]).toEqual([0, 0]);
      return created(id);
    });
    expect([await count('together'), await responses.countDocuments({ _id: claim.key })]).toEqual([1, 1]);
  });

  test('no transaction is open before the work starts one', async () => {
    const toResponse = () => created('');
    const { reply } = (await store.withIdempotencyKey(
      createActor(),
      { claim: newClaim(), toResponse },
      async (actor) => {
        expect(actor).not.toHaveProperty('tx');
        return store.respond(actor, async ({ tx }) => tx !== undefined);
      },
    )) as { reply: boolean };
    expect(reply).toBe(true);
  });

  test('work that does not store its reply rejects', async () => {
    const request = { claim: newClaim(), toResponse: () => created('') };
    const forgets = store.withIdempotencyKey(createActor(), request, async () => undefined);
    await expect(forgets).rejects.toThrow('The reply was not stored for its Idempotency-Key');
    const replaces = store.withIdempotencyKey(createActor(), request, async (actor) => {
      await store.respond(actor, async () => 'one');
      return 'another';
    });
    await expect(replaces).rejects.toThrow('The reply was not stored for its Idempotency-Key');
  });

  test('responses expire after 1 day, outbox rows after 7, inbox rows after 8', async () => {
    const ttl = async (name: string) =>
      (await fixture.db.collection(name).indexes()).flatMap(
        ({ expireAfterSeconds }) => expireAfterSeconds ?? [],
      );
    expect(await ttl('thing_producers_idempotency')).toEqual([86_400]);
    expect(await ttl('thing_producers_inbox')).toEqual([8 * 86_400]);
    expect(await ttl('thing_producers_outbox')).toEqual([7 * 86_400]);
  });
});
