/**
 * Tests the lifecycle of documents against a model. After any sequence of commands the service must respond
 * and store as the model predicts. Two concurrent commands at two replicas must have the same result as one
 * after the other.
 *
 * Each run has its own organization, because a run uses up the quota. The replicas run for the whole file,
 * because their start takes longer than a run.
 *
 * A failure prints its seed: `MODEL_SEED=…` repeats it, `MODEL_RUNS=…` sets the number of runs. Concurrent
 * commands are real requests, so a repetition may not fail.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type Action, plainActions } from './testing/model.ts';
import { startRun, toCommand, toExpectedState } from './testing/model-commands.ts';
import { type TestContext, testContext, testContextFor } from './testing/test-context.ts';

const parameters = {
  numRuns: Number(process.env.MODEL_RUNS ?? 8),
  // stops shrinking before Jest stops the test
  interruptAfterTimeLimit: 90_000,
  ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }),
};

let replicas: [TestContext, TestContext];

beforeAll(async () => {
  const context = await testContext([identity, documents], {
    DEFAULT_PLAN: 'trial',
    PUBLISH_LIMIT_TRIAL: '4',
  });
  replicas = [context, testContextFor({ ...context.app, ...(await context.app.replica()) })];
});
afterAll(() => replicas?.[0].app.stop());

const name = fc.constantFrom('d0', 'd0', 'd0', 'd1', 'd1', 'd2', 'd3', 'd4');
const version = fc.constantFrom('1', '2', 'none');
// actions that change the status of a family are more frequent
const plain = fc.constantFrom(
  ...plainActions,
  'publish',
  'publish',
  'revise',
  'revise',
  'archive',
  'restore',
);
const action = fc
  .oneof(
    { weight: 1, arbitrary: fc.tuple(fc.constant('create'), version) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('version'), name, version) },
    { weight: plainActions.length + 5, arbitrary: fc.tuple(plain, name) },
  )
  .map((words) => words.join(' ') as Action);

const one = action.map((action) => toCommand(action));
const upToTwo = fc
  .array(action, { minLength: 1, maxLength: 2 })
  .map((actions) => toCommand(...(actions as [Action])));
// a run seldom gets to a removed editor, or to an archived version and the published one that replaced it
const starts: Action[][] = [
  [],
  ['assign d0', 'unassign d0', 'publish d0', 'revise d0', 'node d1', 'publish d1'],
];
const start = fc.constantFrom(...starts);

test('any sequence of commands has the result that the model predicts', async () => {
  const commands = fc.noBias(fc.commands([one, upToTwo], { maxCommands: 40, size: 'max' }));
  const property = fc.asyncProperty(start, commands, async (start, commands) => {
    const run = await startRun(replicas, await replicas[0].admin(), start);
    await fc.asyncModelRun(() => run, commands);
    expect(await run.real.observe()).toEqual(toExpectedState(run.model));
  });
  await fc.assert(property, parameters);
});
