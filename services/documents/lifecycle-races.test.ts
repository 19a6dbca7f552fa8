/** Tests concurrent lifecycle changes at two replicas. The result must equal that of some sequence. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestResponse } from '#libs/testing';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import type { DocumentRow } from './store/collections.ts';
import { type LifecycleClient, lifecycleClient } from './testing/lifecycle.ts';
import type { Action } from './testing/model.ts';
import { startRun, toCommand } from './testing/model-commands.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

let context: TestContext;
let replicas: [TestContext, TestContext];
/** Lifecycle clients of two replicas. */
let replicaA: LifecycleClient;
let replicaB: LifecycleClient;
let ada: TestMember;
const rounds = Array.from({ length: 3 }, (_, round) => round);

beforeAll(async () => {
  context = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: '2' });
  replicas = [context, testContextFor({ ...context.app, ...(await context.app.replica()) })];
  [replicaA, replicaB] = [lifecycleClient(context), lifecycleClient(replicas[1])];
  ada = await context.admin();
});
afterAll(() => context?.app.stop());

const getStatuses = (responses: readonly TestResponse[]) => responses.map(({ status }) => status).sort();
const findFamily = (family_id: string) =>
  context.app.db.collection<DocumentRow>('documents').find({ family_id }).toArray();
const getEventTypes = async (...ids: string[]) =>
  (await replicaA.publishedEvents(...ids)).map(({ type }) => type).sort();

describe('one document', () => {
  test('ten concurrent publishes of a document publish it once', async () => {
    const { id } = await context.create(ada);
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? replicaA : replicaB).publish(ada, id)),
    );
    expect(getStatuses(responses)).toEqual([200, ...Array(9).fill(400)]);
    for (const response of responses.filter(({ status }) => status === 400))
      expect(response.body.code).toBe('document_not_draft');
    expect([await replicaA.countPublished(id), await getEventTypes(id)]).toEqual([1, ['document.published']]);
  });

  test('ten concurrent archives of a document archive it once', async () => {
    const { id } = await replicaA.createPublished(ada);
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? replicaA : replicaB).archive(ada, id)),
    );
    expect(getStatuses(responses)).toEqual([200, ...Array(9).fill(400)]);
    expect(await getEventTypes(id)).toEqual(['document.archived', 'document.published']);
    expect((await findFamily(id))[0]).toMatchObject({ status: 'archived', share_epoch: 1, row_version: 3 });
  });
});

describe('a family', () => {
  test('a family always has a published version while revisions replace it', async () => {
    const first = await replicaA.createPublished(ada);
    const views = context.app.db.collection('document_states');
    const counts = new Set<number>();
    let isDone = false;
    const watch = async () => {
      while (!isDone) {
        // without a snapshot, a count can meet a row before and another one after a change
        const session = context.app.db.client.startSession({ snapshot: true });
        const stages = [{ $match: { family_id: first.id, status: 'published' } }, { $count: 'count' }];
        const [found] = await views.aggregate(stages, { session }).toArray();
        counts.add(found?.count ?? 0);
        await session.endSession();
      }
    };
    const watching = [watch(), watch()];
    let latest = first.id;
    for (let times = 0; times < 15; times += 1) {
      latest = (await replicaA.createRevision(ada, latest)).id;
      await replicaB.publish(ada, latest);
    }
    isDone = true;
    await Promise.all(watching);
    expect([...counts]).toEqual([1]);
  });
});

describe('concurrent actions have the result of some order', () => {
  const threeRevisions: Action[] = ['publish d0', 'revise d0', 'revise d0', 'revise d0'];
  const publishes: [Action, ...Action[]] = ['publish d1', 'publish d2', 'publish d3'];
  test.each<[name: string, before: Action[], concurrent: [Action, ...Action[]]]>([
    ['publish and delete of a draft', ['node d0'], ['publish d0', 'remove d0']],
    ['publishes of three revisions', threeRevisions, publishes],
    ['publishes of three revisions of an archived document', [...threeRevisions, 'archive d0'], publishes],
    ['archive, and publish of a revision', ['publish d0', 'revise d0'], ['publish d1', 'archive d0']],
    ['archive and three revises', ['publish d0'], ['archive d0', 'revise d0', 'revise d0', 'revise d0']],
  ])('%s', async (_name, before, concurrent) => {
    for (const _round of rounds) await runActions(ada, before, concurrent);
  });

  test('publishes of which the quota allows one', async () => {
    for (const _round of rounds) {
      const bo = await context.admin();
      await replicaA.setPlan((await context.create(bo)).organization_id, 'trial');
      await runActions(bo, ['publish d0', 'revise d0', 'revise d0', 'create none'], publishes);
    }
  });

  /** Sends actions one after the other, then some concurrently. Each outcome must be that of the model. */
  async function runActions(
    member: TestMember,
    before: readonly Action[],
    concurrent: readonly [Action, ...Action[]],
  ): Promise<void> {
    const { model, real } = await startRun(replicas, member);
    for (const action of before) await toCommand(action).run(model, real);
    await toCommand(...concurrent).run(model, real);
  }
});

describe('a revision', () => {
  test('a revision created during writes has a consistent tree', async () => {
    const original = await replicaA.createPublished(ada);
    const section = (title: string) => ({
      node_type: 'section',
      title,
      children: Array.from({ length: 20 }, () => ({ node_type: 'step', title })),
    });
    const nodes = Array.from({ length: 5 }, () => section('old'));
    const add = () =>
      context.request(ada, 'POST', `${original.id}/nodes`, { node_type: 'section', title: 'S', order: 0 });
    await context.request(ada, 'PUT', `${original.id}/nodes`, { nodes });
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 3 ? add() : replicaB.revise(ada, original.id))),
    );
    expect(responses.filter(({ status }) => status !== 201)).toEqual([]);
    const rows = context.app.db.collection<{ document_id: string }>('nodes');
    for (const draft of (await findFamily(original.id)).filter(({ status }) => status === 'draft'))
      expect(await rows.countDocuments({ document_id: draft._id })).toBe(draft.node_count);
  });
});
