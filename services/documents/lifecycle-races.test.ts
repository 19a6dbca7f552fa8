/** Tests concurrent lifecycle changes at two replicas. The result must equal that of some sequence. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestResponse } from '#libs/testing';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import type { DocumentRow } from './store/collections.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

let context: TestContext;
/** Lifecycle clients of two replicas. */
let replicaA: LifecycleClient;
let replicaB: LifecycleClient;
let ada: TestMember;
const rounds = Array.from({ length: 6 }, (_, round) => round);

beforeAll(async () => {
  context = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: '2' });
  const replica = await context.app.replica();
  replicaA = lifecycleClient(context);
  replicaB = lifecycleClient(testContextFor({ ...context.app, ...replica }));
  ada = await context.admin();
}, 60_000);
afterAll(() => context?.app.stop());

const getStatuses = (responses: readonly TestResponse[]) => responses.map(({ status }) => status).sort();
const findFamily = (family_id: string) =>
  context.app.db.collection<DocumentRow>('documents').find({ family_id }).toArray();
const findPublishedIds = async (family_id: string) =>
  (await findFamily(family_id)).filter(({ status }) => status === 'published').map(({ _id }) => _id);
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

  test.each(rounds)('of a concurrent publish and delete of a draft, one succeeds (%i)', async () => {
    const { id } = await context.create(ada, { title: 'T', nodes: [{ node_type: 'section', title: 'S' }] });
    const [published, deleted] = await Promise.all([replicaA.publish(ada, id), replicaB.remove(ada, id)]);
    const nodes = await context.app.db.collection('nodes').countDocuments({ document_id: id });
    const remaining = [
      (await findFamily(id)).length,
      nodes,
      await replicaA.countPublished(id),
      (await getEventTypes(id)).includes('document.published'),
    ];
    if (deleted.status === 204) {
      expect(outcome(published)).toEqual([404, 'not_found']);
      expect(remaining).toEqual([0, 0, 0, false]);
    } else {
      expect([published.status, ...outcome(deleted)]).toEqual([200, 400, 'document_not_draft']);
      expect(remaining).toEqual([1, 1, 1, true]);
    }
  });
});

describe('a family', () => {
  test.each(rounds)('concurrent publishes of revisions leave one published version (%i)', async (round) => {
    const first = await replicaA.createPublished(ada);
    const drafts = await Promise.all(Array.from({ length: 3 }, () => replicaA.createRevision(ada, first.id)));
    // in half of the rounds, no version is published at the start
    if (round % 2) await replicaA.archive(ada, first.id);
    const responses = await Promise.all(
      drafts.map(({ id }, at) => (at % 2 ? replicaA : replicaB).publish(ada, id)),
    );
    expect(getStatuses(responses)).toEqual([200, 200, 200]);
    const published = await findPublishedIds(first.id);
    expect(published).toHaveLength(1);
    const ids = drafts.map(({ id }) => id);
    const history = await replicaA.history(ada, first.id);
    expect([history[0], [...history].sort(), history.at(-1)]).toEqual([
      first.id,
      [first.id, ...ids].sort(),
      published[0],
    ]);
    expect(await getEventTypes(...ids)).toEqual(Array(3).fill('document.revised'));
    expect(await replicaA.countPublished(...ids)).toBe(3);
    for (const response of responses) expect(response.body.status).toBe('published');
  });

  test.each(rounds)('a revision is published even while its parent is archived (%i)', async () => {
    const first = await replicaA.createPublished(ada);
    const draft = await replicaA.createRevision(ada, first.id);
    const [published, archived] = await Promise.all([
      replicaA.publish(ada, draft.id),
      replicaB.archive(ada, first.id),
    ]);
    expect(published.status).toBe(200);
    expect(await findPublishedIds(first.id)).toEqual([draft.id]);
    // either the archive came first and revoked the links, or the revision replaced the parent
    const wasArchived = archived.status === 200;
    if (!wasArchived) expect(outcome(archived)).toEqual([400, 'document_not_published']);
    expect((await getEventTypes(first.id)).includes('document.archived')).toBe(wasArchived);
    const epochs = (await findFamily(first.id)).map(({ share_epoch }) => share_epoch);
    expect(epochs).toEqual(wasArchived ? [1, 1] : [0, 0]);
  });

  test.each(rounds)('a revision created during an archive has revoked links (%i)', async () => {
    const { id } = await replicaA.createPublished(ada);
    const [archived, ...revised] = await Promise.all([
      replicaA.archive(ada, id),
      replicaB.revise(ada, id),
      replicaA.revise(ada, id),
      replicaB.revise(ada, id),
    ]);
    expect(archived.status).toBe(200);
    for (const response of revised)
      expect([
        [201, undefined],
        [400, 'document_not_published'],
      ]).toContainEqual(outcome(response));
    const family = await findFamily(id);
    expect(family).toHaveLength(1 + revised.filter(({ status }) => status === 201).length);
    expect(family.map(({ share_epoch }) => share_epoch)).toEqual(family.map(() => 1));
  });

  test('a family always has a published version while revisions replace it', async () => {
    const first = await replicaA.createPublished(ada);
    const views = context.app.db.collection('document_states');
    const counts = new Set<number>();
    let isDone = false;
    const watch = async () => {
      while (!isDone) counts.add(await views.countDocuments({ family_id: first.id, status: 'published' }));
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
  }, 30_000);
});

describe('the last publish event', () => {
  test.each(rounds.slice(0, 3))('concurrent publishes consume the last publish event once (%i)', async () => {
    const bo = await context.admin();
    const first = await replicaA.createPublished(bo);
    await replicaA.setPlan(first.organization_id, 'trial');
    const drafts = [
      await replicaA.createRevision(bo, first.id),
      await replicaA.createRevision(bo, first.id),
      await context.create(bo),
    ];
    const responses = await Promise.all(
      drafts.map(({ id }, at) => (at % 2 ? replicaA : replicaB).publish(bo, id)),
    );
    expect(getStatuses(responses)).toEqual([200, 402, 402]);
    const winner = drafts[responses.findIndex(({ status }) => status === 200)];
    const isRevision = winner.parent_doc_id !== null;
    expect(await findPublishedIds(first.id)).toEqual([isRevision ? winner.id : first.id]);
    expect((await replicaA.get(bo, first.id)).archived_at === null).toBe(!isRevision);
    expect(await replicaA.countPublished(...drafts.map(({ id }) => id))).toBe(1);
    expect(await getEventTypes(...drafts.map(({ id }) => id))).toEqual([
      isRevision ? 'document.revised' : 'document.published',
    ]);
    const subscription = await context.app.request('GET', '/organization/subscription', { as: bo.as });
    expect(subscription.body.publish_used).toBe(2);
  });
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
