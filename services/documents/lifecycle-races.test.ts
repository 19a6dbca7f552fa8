/** Steps of a document's life at the same moment, at two replicas: each pair leaves one story that can be told. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TestResponse } from '#libs/testing';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import type { DocumentRow } from './store/collections.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';

let home: TestContext;
/** The same life at either replica. */
let here: LifecycleClient;
let there: LifecycleClient;
let ada: TestMember;
const rounds = Array.from({ length: 6 }, (_, round) => round);

beforeAll(async () => {
  home = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: '2' });
  const replica = await home.app.replica();
  here = lifecycleClient(home);
  there = lifecycleClient(testContextFor({ ...home.app, ...replica }));
  ada = await home.admin();
}, 60_000);
afterAll(() => home?.app.stop());

const statusesOf = (answers: readonly TestResponse[]) => answers.map(({ status }) => status).sort();
const familyOf = (family_id: string) =>
  home.app.db.collection<DocumentRow>('documents').find({ family_id }).toArray();
const publishedIn = async (family_id: string) =>
  (await familyOf(family_id)).filter(({ status }) => status === 'published').map(({ _id }) => _id);
const typesOf = async (...ids: string[]) =>
  (await here.publishedEvents(...ids)).map(({ type }) => type).sort();

describe('one document', () => {
  test('published by ten at once is published, said and counted once', async () => {
    const { id } = await home.create(ada);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? here : there).publish(ada, id)),
    );
    expect(statusesOf(answers)).toEqual([200, ...Array(9).fill(400)]);
    for (const answer of answers.filter(({ status }) => status === 400))
      expect(answer.body.code).toBe('document_not_draft');
    expect([await here.countPublished(id), await typesOf(id)]).toEqual([1, ['document.published']]);
  });

  test('archived by ten at once is archived and said once, and its links end once', async () => {
    const { id } = await here.createPublished(ada);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => (at % 2 ? here : there).archive(ada, id)),
    );
    expect(statusesOf(answers)).toEqual([200, ...Array(9).fill(400)]);
    expect(await typesOf(id)).toEqual(['document.archived', 'document.published']);
    expect((await familyOf(id))[0]).toMatchObject({ status: 'archived', share_epoch: 1, row_version: 3 });
  });

  test.each(rounds)('published and deleted is one of both (%i)', async () => {
    const { id } = await home.create(ada, { title: 'T', nodes: [{ node_type: 'section', title: 'S' }] });
    const [published, deleted] = await Promise.all([here.publish(ada, id), there.remove(ada, id)]);
    const nodes = await home.app.db.collection('nodes').countDocuments({ document_id: id });
    const left = [
      (await familyOf(id)).length,
      nodes,
      await here.countPublished(id),
      (await typesOf(id)).includes('document.published'),
    ];
    if (deleted.status === 204) {
      expect(outcome(published)).toEqual([404, 'not_found']);
      expect(left).toEqual([0, 0, 0, false]);
    } else {
      expect([published.status, ...outcome(deleted)]).toEqual([200, 400, 'document_not_draft']);
      expect(left).toEqual([1, 1, 1, true]);
    }
  });
});

describe('a family', () => {
  test.each(rounds)(
    'whose drafts are published at once has one published version, and all in its history (%i)',
    async (round) => {
      const first = await here.createPublished(ada);
      const drafts = await Promise.all(Array.from({ length: 3 }, () => here.createRevision(ada, first.id)));
      // in half of the rounds no version is published before
      if (round % 2) await here.archive(ada, first.id);
      const answers = await Promise.all(drafts.map(({ id }, at) => (at % 2 ? here : there).publish(ada, id)));
      expect(statusesOf(answers)).toEqual([200, 200, 200]);
      const published = await publishedIn(first.id);
      expect(published).toHaveLength(1);
      const ids = drafts.map(({ id }) => id);
      const history = await here.history(ada, first.id);
      expect([history[0], [...history].sort(), history.at(-1)]).toEqual([
        first.id,
        [first.id, ...ids].sort(),
        published[0],
      ]);
      expect(await typesOf(...ids)).toEqual(Array(3).fill('document.revised'));
      expect(await here.countPublished(...ids)).toBe(3);
      for (const answer of answers) expect(answer.body.status).toBe('published');
    },
  );

  test.each(rounds)(
    'whose draft is published while its published version is archived ends with the draft published (%i)',
    async () => {
      const first = await here.createPublished(ada);
      const draft = await here.createRevision(ada, first.id);
      const [published, archived] = await Promise.all([
        here.publish(ada, draft.id),
        there.archive(ada, first.id),
      ]);
      expect(published.status).toBe(200);
      expect(await publishedIn(first.id)).toEqual([draft.id]);
      // archived before it was replaced: its links are dead, and that was said; or replaced and never archived by hand
      const wasArchived = archived.status === 200;
      if (!wasArchived) expect(outcome(archived)).toEqual([400, 'document_not_published']);
      expect((await typesOf(first.id)).includes('document.archived')).toBe(wasArchived);
      const epochs = (await familyOf(first.id)).map(({ share_epoch }) => share_epoch);
      expect(epochs).toEqual(wasArchived ? [1, 1] : [0, 0]);
    },
  );

  test.each(rounds)(
    'that is revised while it is archived has no draft whose links are still alive (%i)',
    async () => {
      const { id } = await here.createPublished(ada);
      const [archived, ...revised] = await Promise.all([
        here.archive(ada, id),
        there.revise(ada, id),
        here.revise(ada, id),
        there.revise(ada, id),
      ]);
      expect(archived.status).toBe(200);
      for (const answer of revised)
        expect([
          [201, undefined],
          [400, 'document_not_published'],
        ]).toContainEqual(outcome(answer));
      const family = await familyOf(id);
      expect(family).toHaveLength(1 + revised.filter(({ status }) => status === 201).length);
      expect(family.map(({ share_epoch }) => share_epoch)).toEqual(family.map(() => 1));
    },
  );

  test('is never seen without a published version while revisions replace each other', async () => {
    const first = await here.createPublished(ada);
    const views = home.app.db.collection('document_states');
    const counts = new Set<number>();
    let isDone = false;
    const watch = async () => {
      while (!isDone) counts.add(await views.countDocuments({ family_id: first.id, status: 'published' }));
    };
    const watching = [watch(), watch()];
    let latest = first.id;
    for (let times = 0; times < 15; times += 1) {
      latest = (await here.createRevision(ada, latest)).id;
      await there.publish(ada, latest);
    }
    isDone = true;
    await Promise.all(watching);
    expect([...counts]).toEqual([1]);
  }, 30_000);
});

describe('the last publish event', () => {
  test.each(rounds.slice(0, 3))(
    'goes to one of a revision and other drafts; whoever gets none changes nothing (%i)',
    async () => {
      const bo = await home.admin();
      const first = await here.createPublished(bo);
      await here.setPlan(first.organization_id, 'trial');
      const drafts = [
        await here.createRevision(bo, first.id),
        await here.createRevision(bo, first.id),
        await home.create(bo),
      ];
      const answers = await Promise.all(drafts.map(({ id }, at) => (at % 2 ? here : there).publish(bo, id)));
      expect(statusesOf(answers)).toEqual([200, 402, 402]);
      const winner = drafts[answers.findIndex(({ status }) => status === 200)];
      const isRevision = winner.parent_doc_id !== null;
      expect(await publishedIn(first.id)).toEqual([isRevision ? winner.id : first.id]);
      expect((await here.get(bo, first.id)).archived_at === null).toBe(!isRevision);
      expect(await here.countPublished(...drafts.map(({ id }) => id))).toBe(1);
      expect(await typesOf(...drafts.map(({ id }) => id))).toEqual([
        isRevision ? 'document.revised' : 'document.published',
      ]);
      const subscription = await home.app.request('GET', '/organization/subscription', { as: bo.as });
      expect(subscription.body.publish_used).toBe(2);
    },
  );
});

describe('a revision', () => {
  test('made while its original is written to has a tree of one moment', async () => {
    const original = await here.createPublished(ada);
    const section = (title: string) => ({
      node_type: 'section',
      title,
      children: Array.from({ length: 20 }, () => ({ node_type: 'step', title })),
    });
    const nodes = Array.from({ length: 5 }, () => section('old'));
    const add = () =>
      home.request(ada, 'POST', `${original.id}/nodes`, { node_type: 'section', title: 'S', order: 0 });
    await home.request(ada, 'PUT', `${original.id}/nodes`, { nodes });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => (at % 3 ? add() : there.revise(ada, original.id))),
    );
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const rows = home.app.db.collection<{ document_id: string }>('nodes');
    for (const draft of (await familyOf(original.id)).filter(({ status }) => status === 'draft'))
      expect(await rows.countDocuments({ document_id: draft._id })).toBe(draft.node_count);
  });
});
