/** Things done once: events by the inbox, requests by their Idempotency-Key. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Envelope,
  IdempotencyKeyInFlight,
  IdempotencyKeyReused,
  newId,
  type Problem,
} from '#libs/contract';
import type { Kept, Store } from '#libs/store';
import { makeThing, type StoreStage, someone, storeStage, things } from '../testing/store-stage.ts';

let stage: StoreStage;
let store: Store;

beforeAll(async () => {
  stage = await storeStage();
  store = await stage.open();
}, 60_000);
afterAll(() => stage?.stop());

type Someone = ReturnType<typeof someone>;

const count = (name: string) => store.rows(things).countDocuments({ name });

describe('once', () => {
  const heard = (): Envelope => ({
    id: newId(),
    type: 'thing.made',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: {},
  });
  const effect = (event: Envelope, name: string) =>
    store.once(event, async (tx) => {
      await makeThing(store, { ...someone(), ...{ tx } }, name);
    });
  const inbox = (id: string) =>
    stage.db.collection<{ _id: string }>('thing_makers_inbox').findOne({ _id: id });

  test('an event that is delivered twice has one effect', async () => {
    const event = heard();
    expect([await effect(event, 'twice'), await effect(event, 'twice')]).toEqual([true, false]);
    expect(await count('twice')).toBe(1);
  });

  test('an event that is delivered many times at once has one effect', async () => {
    const event = heard();
    const whose = await Promise.all(Array.from({ length: 10 }, () => effect(event, 'at once')));
    expect(whose.filter(Boolean)).toEqual([true]);
    expect(await count('at once')).toBe(1);
  });

  test('an effect that fails leaves no id behind, so that it can be tried again', async () => {
    const event = heard();
    const fails = store.once(event, async (tx) => {
      await makeThing(store, { ...someone(), ...{ tx } }, 'again');
      throw new Error('not yet');
    });
    await expect(fails).rejects.toThrow('not yet');
    expect([await inbox(event.id), await count('again')]).toEqual([null, 0]);
    await effect(event, 'again');
    expect(await inbox(event.id)).not.toBeNull();
    expect(await count('again')).toBe(1);
  });

  test('a duplicate key in the effect itself is an error, not a second delivery', async () => {
    const ada = someone();
    await makeThing(store, ada, 'mine');
    const clash = store.once(heard(), async (tx) => {
      await makeThing(store, { ...ada, ...{ tx } }, 'mine');
    });
    await expect(clash).rejects.toMatchObject({ code: 11000 });
  });
});

describe('idempotently', () => {
  const claimed = (fingerprint = 'body') => ({ key: newId(), fingerprint });
  const kept = (body: string): Kept => ({ status: 201, headers: { ETag: '"1"' }, body });
  const answered = async (
    claim: { key: string; fingerprint: string },
    work: (acting: Someone) => Promise<Kept>,
  ) => {
    const answer = await store.idempotently(someone(), claim, work);
    return { ...answer, body: Buffer.from(answer.body).toString() };
  };
  const request = (name: string, claim = claimed()) =>
    answered(claim, async (acting) => kept(await makeThing(store, acting, name)));

  test('the same claim gives the first answer again, and does nothing', async () => {
    const claim = claimed();
    const first = await request('replayed', claim);
    const second = await request('replayed', claim);
    expect(first.replayed).toBe(false);
    expect(second).toEqual({ ...first, replayed: true });
    expect(await count('replayed')).toBe(1);
  });

  test('an answer without a body is kept too', async () => {
    const claim = claimed();
    const empty = async () => ({ status: 204, headers: {}, body: '' });
    await answered(claim, empty);
    expect(await answered(claim, empty)).toEqual({ ...(await empty()), replayed: true });
  });

  test('an answer over 1 MiB that can be made again is kept as what it is made from; one that cannot is kept whole', async () => {
    const again = { id: newId() };
    const most = 'é'.repeat(2 ** 19);
    for (const [body, more, replay] of [
      [most, { again }, { body: most }],
      [`${most}.`, { again }, { body: '', again }],
      [`${most}.`, {}, { body: `${most}.` }],
    ] as const) {
      const claim = claimed();
      const long = async () => ({ ...kept(body), ...more });
      expect(await answered(claim, long)).toMatchObject({ body, replayed: false });
      expect(await answered(claim, long)).toEqual({ ...kept(''), ...replay, replayed: true });
    }
  });

  test('the same key with another body is refused', async () => {
    const claim = claimed();
    await request('reused', claim);
    const other = await request('reused', { ...claim, fingerprint: 'other' }).catch(
      (error: Problem) => error.kind,
    );
    expect(other).toBe(IdempotencyKeyReused);
    expect(await count('reused')).toBe(1);
  });

  test('twenty requests at once with one key have one effect', async () => {
    const claim = claimed();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => request('storm', claim).catch((error: Problem) => error)),
    );
    expect(await count('storm')).toBe(1);
    const answers = outcomes.flatMap((one) => ('body' in one ? [one] : []));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    for (const one of outcomes)
      if (!('body' in one)) expect(one).toHaveProperty('kind', IdempotencyKeyInFlight);
    expect(await request('storm', claim)).toMatchObject({ replayed: true, body: answers[0]?.body });
  });

  test('work that fails keeps neither its effect nor an answer', async () => {
    const claim = claimed();
    const fails = store.idempotently(someone(), claim, async (acting) => {
      await makeThing(store, acting, 'failed');
      throw new Error('no');
    });
    await expect(fails).rejects.toThrow('no');
    expect(await count('failed')).toBe(0);
    expect((await request('failed', claim)).replayed).toBe(false);
    expect(await count('failed')).toBe(1);
  });

  test('the answer is kept in the transaction of the effect: neither is seen before both are there', async () => {
    const claim = claimed();
    const answers = stage.db.collection<{ _id: string }>('thing_makers_idempotency');
    await store.idempotently(someone(), claim, async (acting) => {
      const made = await makeThing(store, acting, 'together');
      expect([await count('together'), await answers.countDocuments({ _id: claim.key })]).toEqual([0, 0]);
      return kept(made);
    });
    expect([await count('together'), await answers.countDocuments({ _id: claim.key })]).toEqual([1, 1]);
  });

  test('answers are forgotten after a day, and ids of events after eight', async () => {
    const ttl = async (name: string) =>
      (await stage.db.collection(name).indexes()).flatMap(
        ({ expireAfterSeconds }) => expireAfterSeconds ?? [],
      );
    expect(await ttl('thing_makers_idempotency')).toEqual([86_400]);
    expect(await ttl('thing_makers_inbox')).toEqual([8 * 86_400]);
    expect(await ttl('thing_makers_outbox')).toEqual([7 * 86_400]);
  });
});
