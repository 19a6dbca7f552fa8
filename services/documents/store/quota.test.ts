/** Tests that concurrent publish requests share the read of their plan, and that organizations do not affect others. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { profileCommands } from '#libs/testing';
import { type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { type Quota, quota } from './quota.ts';

let fixture: DocumentStores;
let publishQuota: Quota;
const organizations = { unlimited: newId(), limited: newId(), exhausted: newId() };

beforeAll(async () => {
  fixture = await openDocumentStores();
  publishQuota = quota(fixture.store);
  const limits = { unlimited: null, limited: 2, exhausted: 0 };
  const terms = Object.entries(limits).map(([name, publish_limit]) => ({
    ...{ _id: organizations[name as keyof typeof organizations], plan: 'trial', publish_limit },
    ...{ terms_version: 1, renews: 'never' },
  }));
  await fixture.db.collection<{ _id: string }>('subscriptions').insertMany(terms);
});
afterAll(() => fixture?.stop());

test('requests of the same turn read each plan once, and consume their own', async () => {
  const wanted = [...Object.values(organizations), ...Object.values(organizations)];
  const actors = wanted.map((organization_id) => ({ organization_id, user_id: newId() }));
  const outcomes: string[] = [];
  const commands = await profileCommands(fixture.db, async () => {
    const all = await Promise.all(actors.map((actor) => publishQuota.prepare(actor, new Date())));
    for (const [at, consume] of all.entries()) {
      const actor = actors[at];
      if (!actor) throw new Error('There is an actor for each quota');
      const work = fixture.store.transact(actor, (tx) => consume(newId(), tx));
      outcomes.push(await work.then(String, (error: Error) => error.message));
    }
  });
  const exhausted = expect.stringContaining('The 0 publish events of your plan are used up');
  const once = ['undefined', 'undefined', exhausted];
  expect(outcomes).toEqual([...once, ...once]);
  const plans = commands.filter(({ collection }) => collection === 'subscription_terms');
  expect(plans).toHaveLength(wanted.length / 2);
});

test('a plan that cannot be read fails only the requests of its organization', async () => {
  // reading the plan of an organization without an id throws
  const wanted = ['', organizations.limited, ''];
  const prepared = wanted.map((organization_id) =>
    publishQuota.prepare({ organization_id, user_id: newId() }, new Date()),
  );
  const results = await Promise.allSettled(prepared);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
});
