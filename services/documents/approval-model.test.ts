/**
 * Tests approval against a model. After any sequence of actions, the service must respond and store as the model
 * predicts. Two concurrent actions at two replicas must have the same result as one after the other. In all of them,
 * a gated version was approved by all of its approvers, none of whom wrote or submitted it.
 *
 * A failure prints its seed: `MODEL_SEED=…` repeats it, `MODEL_RUNS=…` sets the number of runs. Concurrent actions are
 * real requests, so a repetition may not fail.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addMember, type Member } from '#libs/testing';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import {
  type ApprovalAction,
  type ApprovalModel,
  applyApprovalAction,
  createApprovalModel,
  isFourEyes,
  type Name,
  people,
} from './testing/approval-model.ts';
import { type ApprovalRun, startApprovalRun, toModelState } from './testing/approval-run.ts';
import { type TestContext, testContext, testContextFor } from './testing/test-context.ts';

const parameters = {
  numRuns: Number(process.env.MODEL_RUNS ?? 4),
  // stops shrinking before Jest stops the test
  interruptAfterTimeLimit: 90_000,
  ...(process.env.MODEL_SEED && { seed: Number(process.env.MODEL_SEED) }),
};

let replicas: [TestContext, TestContext];

beforeAll(async () => {
  const context = await testContext([identity, documents]);
  replicas = [context, testContextFor({ ...context.app, ...(await context.app.replica()) })];
});
afterAll(() => replicas?.[0].app.stop());

/** Chooses a document or a request of the model when the action runs. The newest ones are chosen more often. */
type Choice = (names: readonly string[]) => string;
const choice = fc.nat(3).map(
  (back): Choice =>
    (names) =>
      names.at(-1 - back) ?? names[0] ?? 'none',
);
const by = fc.constantFrom<Name>(...people, 'owner', 'boss');
const approvers = fc.subarray<Name>(['owner', 'peer', 'clerk', 'boss'], { maxLength: 2 });

/** An action whose document or request is chosen later. */
type Plan = (model: ApprovalModel) => ApprovalAction;
const onDocument = fc
  .tuple(fc.constantFrom('edit', 'addNode', 'delete', 'publish', 'publish', 'publish', 'revise'), by, choice)
  .map(
    ([type, by, choose]): Plan =>
      ({ versions }) => ({
        ...{ type: type as 'edit', by, doc: choose(Object.keys(versions)) },
      }),
  );
const withApprovers = fc
  .tuple(fc.constantFrom('submit', 'submit', 'setApprovers'), by, choice, approvers)
  .map(
    ([type, by, choose, approvers]): Plan =>
      ({ versions }) => ({
        ...{ type: type as 'submit', by, doc: choose(Object.keys(versions)), approvers },
      }),
  );
const onRequest = fc
  .tuple(fc.constantFrom('approve', 'approve', 'approve', 'reject', 'withdraw'), by, choice, fc.nat(3))
  .map(
    ([type, by, choose, at]): Plan =>
      ({ requests }) => {
        const request = choose(Object.keys(requests));
        // most decisions are those of an approver
        const asked = Object.keys(requests[request]?.decisions ?? {}) as Name[];
        return { type: type as 'approve', by: (type !== 'withdraw' && asked[at]) || by, request };
      },
  );
const require = fc.boolean().map(
  (value): Plan =>
    () => ({ type: 'require', by: 'boss', value }),
);
const leave = fc.constant<Plan>(() => ({ type: 'leave', by: 'boss' }));

const plan = fc.oneof(
  { weight: 5, arbitrary: onDocument },
  { weight: 4, arbitrary: withApprovers },
  { weight: 6, arbitrary: onRequest },
  { weight: 1, arbitrary: require },
);
const plans = fc.oneof(
  { weight: 8, arbitrary: fc.array(plan, { minLength: 1, maxLength: 2 }) },
  // authentication precedes the transaction, so a member who leaves meanwhile may get 401 or 403
  { weight: 1, arbitrary: leave.map((one) => [one]) },
);

const setApprovers = (approvers: Name[]): ApprovalAction => ({
  type: 'setApprovers',
  by: 'boss',
  doc: 'd',
  approvers,
});
const submit = (approvers: Name[]): ApprovalAction => ({ type: 'submit', by: 'owner', doc: 'd', approvers });
const approve = (by: Name, request: string): ApprovalAction => ({ type: 'approve', by, request });
/** The actions with which runs start: random ones seldom get to an approved draft. */
const leaves: ApprovalAction = { type: 'leave', by: 'boss' };
const byOwner = (type: 'edit' | 'publish'): ApprovalAction => ({ type, by: 'owner', doc: 'd' });
const starts: ApprovalAction[][] = [
  [],
  [setApprovers(['peer', 'clerk']), leaves, submit([]), byOwner('publish')],
  [setApprovers(['peer']), submit(['clerk'])],
  [{ type: 'addNode', by: 'peer', doc: 'd' }, submit(['peer']), approve('peer', 'n1')],
  [{ type: 'require', by: 'boss', value: true }, submit(['peer']), approve('peer', 'n1')],
  [
    ...[setApprovers(['peer', 'clerk']), submit([]), approve('peer', 'n1'), approve('clerk', 'n1')],
    ...[byOwner('publish'), byOwner('edit')],
  ],
];

/** The state of a run: the model, and the service. */
interface Step {
  model: ApprovalModel;
  real: ApprovalRun;
}

const toCommand = (chosen: readonly Plan[]): fc.AsyncCommand<{ current: ApprovalModel }, ApprovalRun> => ({
  check: () => true,
  toString: () => chosen.map((one) => JSON.stringify(one(createApprovalModel()))).join(' ‖ '),
  run: (state, real) =>
    runActions({ model: state.current, real }, chosen).then((model) => {
      state.current = model;
    }),
});

/** Sends the actions at the same time and returns the model in the order that explains responses and state. */
async function runActions({ model, real }: Step, chosen: readonly Plan[]): Promise<ApprovalModel> {
  const actions = chosen.map((one) => ({ action: one(model), name: real.createName() }));
  // an unknown request has no path
  const sent = actions.filter(({ action }) => !('request' in action && action.request === 'none'));
  const responses = await Promise.all(sent.map(({ action, name }) => real.send(action, name)));
  const orders =
    sent.length === 2
      ? [
          [0, 1],
          [1, 0],
        ]
      : [sent.map((_, at) => at)];
  const expected = orders.map((order) => {
    const next = structuredClone(model);
    const outcomes: string[] = [];
    for (const at of order) {
      const one = sent[at];
      if (one) outcomes[at] = applyApprovalAction(next, one.action, one.name);
    }
    return { next, outcomes };
  });
  const state = await real.observe();
  const found = expected.find(
    ({ next, outcomes }) =>
      isDeepStrictEqual(outcomes, responses) && isDeepStrictEqual(toModelState(next), state),
  );
  if (!found) {
    const predicted = expected.map(({ next, outcomes }) => ({ outcomes, state: toModelState(next) }));
    expect({ sent, responses, state }).toEqual({ sent, predicted });
    throw new Error('No order explains the responses');
  }
  expect(isFourEyes(found.next)).toBe(true);
  return found.next;
}

/** The number of gated publishes in all runs. */
let published = 0;

test.each(starts.map((start, at) => [at, start] as const))(
  'any sequence of actions after start %d is as the model predicts',
  async (_, start) => {
    const commands = fc.noBias(fc.commands([plans.map(toCommand)], { maxCommands: 40, size: 'max' }));
    const property = fc.asyncProperty(commands, async (commands) => {
      const real = await startApprovalRun(replicas, await createPeople());
      const model = { current: createApprovalModel() };
      for (const action of start)
        model.current = await runActions({ model: model.current, real }, [() => action]);
      await fc.asyncModelRun(() => ({ model, real }), commands);
      published += model.current.published.filter(({ isGated }) => isGated).length;
    });
    await fc.assert(property, parameters);
  },
);

test('the runs have published versions that need approval', () => expect(published).toBeGreaterThan(0));

/** Creates an organization with the people of the model. */
async function createPeople(): Promise<Record<Name, Member>> {
  const [{ app, admin }] = replicas;
  const { as } = await admin();
  const add = async (name: Name) => {
    const role = name === 'boss' || name === 'peer' ? 'admin' : 'member';
    return [name, await addMember(app, as, { role })] as const;
  };
  // one for each name
  return Object.fromEntries(await Promise.all(people.map(add))) as Record<Name, Member>;
}
