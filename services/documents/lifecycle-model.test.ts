/**
 * Tests the lifecycle of documents against a model. After any sequence of commands the service must respond
 * and store as the model predicts. Two concurrent commands at two replicas must have the same result as one
 * after the other.
 *
 * A failure prints its seed: `MODEL_SEED=…` repeats it, `MODEL_RUNS=…` sets the number of runs.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { lifecycleClient } from './testing/lifecycle.ts';
import { applyCommand, type Command, commandTypes, type Model } from './testing/model.ts';
import { type ObservedState, startRun, toExpectedState } from './testing/model-commands.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

const limit = 4;
const numRuns = Number(process.env.MODEL_RUNS ?? 30);
const parameters = { numRuns, ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }) };

let replicas: TestContext[];
let ada: TestMember;
let organizationId: string;

beforeAll(async () => {
  const context = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: String(limit) });
  const replica = await context.app.replica();
  replicas = [context, testContextFor({ ...context.app, ...replica })];
  ada = await context.admin();
  organizationId = (await context.create(ada)).organization_id;
  await lifecycleClient(context).setPlan(organizationId, 'trial');
}, 60_000);
afterAll(() => replicas[0]?.app.stop());

const emptyModel: Model = { documents: {}, published: 0, limit, events: [] };
const createFirst = { type: 'create', on: 0, version: '1' } as const;

/** A command whose number `on` selects one of the documents that exist when it runs. */
const arbitraryCommand = fc.record({
  // commands that change the status of a family are more frequent
  type: fc.constantFrom(...commandTypes, 'publish', 'publish', 'revise', 'revise', 'archive'),
  on: fc.nat({ max: 20 }),
  version: fc.constantFrom('1', '2', null),
});
type ArbitraryCommand = typeof arbitraryCommand extends fc.Arbitrary<infer Value> ? Value : never;

function toCommand({ type, on, version }: ArbitraryCommand, model: Model, name: string): Command {
  const names = Object.keys(model.documents);
  return { type, on: names[on % names.length] ?? 'nobody', name, version };
}

test('any sequence of commands has the result that the model predicts', async () => {
  const script = fc.array(arbitraryCommand, { minLength: 1, maxLength: 14 });
  const property = fc.asyncProperty(script, async (script) => {
    const run = await startRun(replicas, ada, organizationId);
    let model = emptyModel;
    const [actual, expected]: [string[], string[]] = [[], []];
    for (const [index, arbitrary] of [createFirst, ...script].entries()) {
      const command = toCommand(arbitrary, model, `d${index}`);
      const [status, after] = applyCommand(model, command);
      model = after;
      const description = `${command.type} ${command.on} ${command.version} as ${command.name}: `;
      actual.push(description + (await run.run(command, index % 2)));
      expected.push(description + status);
    }
    expect(actual).toEqual(expected);
    expect(await run.observe(Object.keys(model.documents))).toEqual(toExpectedState(model));
  });
  await fc.assert(property, parameters);
}, 120_000);

test('two concurrent commands have the result of one after the other', async () => {
  const race = fc.record({
    before: fc.array(arbitraryCommand, { maxLength: 6 }),
    one: arbitraryCommand,
    other: arbitraryCommand,
  });
  const property = fc.asyncProperty(race, async ({ before, one, other }) => {
    const run = await startRun(replicas, ada, organizationId);
    let model = emptyModel;
    for (const [index, arbitrary] of [createFirst, ...before].entries()) {
      const command = toCommand(arbitrary, model, `d${index}`);
      const [status, after] = applyCommand(model, command);
      model = after;
      expect([command, await run.run(command)]).toEqual([command, status]);
    }
    const pair: [Command, Command] = [toCommand(one, model, 'one'), toCommand(other, model, 'other')];
    const statuses = await Promise.all(pair.map((command, replica) => run.run(command, replica)));
    const orders = [runInOrder(model, pair), runInOrder(model, [pair[1], pair[0]])];
    const state = await run.observe([...new Set(orders.flatMap(({ names }) => names))]);
    const result = {
      [pair[0].name]: statuses[0],
      [pair[1].name]: statuses[1],
      ...withoutDeleted(state),
    };
    expect(orders.map((order) => order.result)).toContainEqual(result);
  });
  await fc.assert(property, parameters);
}, 120_000);

/** Returns the result of two commands that run one after the other. */
function runInOrder(model: Model, [first, second]: [Command, Command]) {
  const [firstStatus, between] = applyCommand(model, first);
  const [secondStatus, after] = applyCommand(between, second);
  const names = Object.keys(after.documents);
  const state = withoutDeleted(toExpectedState(after));
  return { names, result: { [first.name]: firstStatus, [second.name]: secondStatus, ...state } };
}

/** Omits deleted documents. A document that only the other order creates is observed as deleted. */
function withoutDeleted(state: ObservedState): ObservedState {
  const existing = Object.entries(state.documents).filter(([, document]) => document !== 'deleted');
  return { ...state, documents: Object.fromEntries(existing) };
}
