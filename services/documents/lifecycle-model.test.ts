/**
 * The life of documents against a model: whatever is done in whatever order, the service answers and remembers as the
 * model says; and two deeds at the same moment, at two replicas, end as one after the other would have.
 *
 * A failure names its seed: `MODEL_SEED=… ` runs it again, `MODEL_RUNS=…` runs more.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import { lifecycleClient } from './testing/lifecycle.ts';
import { type Deed, deeds, type Model, next } from './testing/model.ts';
import { beginRun, type Seen, seenOf } from './testing/model-commands.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

const limit = 4;
const numRuns = Number(process.env.MODEL_RUNS ?? 30);
const chosen = { numRuns, ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }) };

let replicas: TestContext[];
let ada: TestMember;
let organizationId: string;

beforeAll(async () => {
  const home = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: String(limit) });
  const replica = await home.app.replica();
  replicas = [home, testContextFor({ ...home.app, ...replica })];
  ada = await home.admin();
  organizationId = (await home.create(ada)).organization_id;
  await lifecycleClient(home).setPlan(organizationId, 'trial');
}, 60_000);
afterAll(() => replicas[0]?.app.stop());

const blank: Model = { documents: {}, published: 0, limit, said: [] };

/** A deed on one of the documents that there are when its turn comes. */
const intended = fc.record({
  // what moves a family on comes more often
  deed: fc.constantFrom(...deeds, 'publish', 'publish', 'revise', 'revise', 'archive'),
  on: fc.nat({ max: 20 }),
  version: fc.constantFrom('1', '2', null),
});
type Intended = typeof intended extends fc.Arbitrary<infer One> ? One : never;

function deedOf({ deed, on, version }: Intended, model: Model, name: string): Deed {
  const names = Object.keys(model.documents);
  return { deed, on: names[on % names.length] ?? 'nobody', name, version };
}

test('any deeds in any order are answered and remembered as the model says', async () => {
  const script = fc.array(intended, { minLength: 1, maxLength: 14 });
  const property = fc.asyncProperty(script, async (script) => {
    const run = await beginRun(replicas, ada, organizationId);
    let model = blank;
    const [done, expected]: [string[], string[]] = [[], []];
    for (const [at, one] of [{ deed: 'create', on: 0, version: '1' } as const, ...script].entries()) {
      const deed = deedOf(one, model, `d${at}`);
      const [status, then] = next(model, deed);
      model = then;
      const told = `${deed.deed} ${deed.on} ${deed.version} as ${deed.name}: `;
      done.push(told + (await run.do(deed, at % 2)));
      expected.push(told + status);
    }
    expect(done).toEqual(expected);
    expect(await run.see(Object.keys(model.documents))).toEqual(seenOf(model));
  });
  await fc.assert(property, chosen);
}, 120_000);

test('two deeds at the same moment end as one after the other would have', async () => {
  const race = fc.record({ before: fc.array(intended, { maxLength: 6 }), one: intended, other: intended });
  const property = fc.asyncProperty(race, async ({ before, one, other }) => {
    const run = await beginRun(replicas, ada, organizationId);
    let model = blank;
    for (const [at, it] of [{ deed: 'create', on: 0, version: '1' } as const, ...before].entries()) {
      const deed = deedOf(it, model, `d${at}`);
      const [status, then] = next(model, deed);
      model = then;
      expect([deed, await run.do(deed)]).toEqual([deed, status]);
    }
    const pair: [Deed, Deed] = [deedOf(one, model, 'one'), deedOf(other, model, 'other')];
    const statuses = await Promise.all(pair.map((deed, replica) => run.do(deed, replica)));
    const orders = [inOrder(model, pair), inOrder(model, [pair[1], pair[0]])];
    const seen = await run.see([...new Set(orders.flatMap(({ names }) => names))]);
    const found = { [pair[0].name]: statuses[0], [pair[1].name]: statuses[1], ...withoutAbsent(seen) };
    expect(orders.map(({ end }) => end)).toContainEqual(found);
  });
  await fc.assert(property, chosen);
}, 120_000);

/** How two deeds end when one is done after the other. */
function inOrder(model: Model, [first, second]: [Deed, Deed]) {
  const [one, between] = next(model, first);
  const [two, after] = next(between, second);
  const names = Object.keys(after.documents);
  return { names, end: { [first.name]: one, [second.name]: two, ...withoutAbsent(seenOf(after)) } };
}

/** A document that only the other order makes is there in neither. */
function withoutAbsent(seen: Seen): Seen {
  const there = Object.entries(seen.documents).filter(([, one]) => one !== 'deleted');
  return { ...seen, documents: Object.fromEntries(there) };
}
