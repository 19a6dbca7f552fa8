/** Tests writes of versions that race each other at two replicas, 200 times each: they act as if in some order. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runRounds, sendBoth, type TestResponse } from '#libs/testing';
import { hashDocument } from '../../tests/content-hash/documents.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext, testContextFor } from './testing/test-context.ts';
import { contentWrites } from './testing/update-events.ts';

/** Time for rounds of many requests on a busy machine, in milliseconds. */
const timeoutMs = 600_000;

let replicas: [TestContext, TestContext];
let lifecycle: LifecycleClient;
let ada: TestMember;
/** The admin of an organization that locks its published documents. */
let locked: TestMember;

beforeAll(async () => {
  const context = await testContext([identity, documents]);
  replicas = [context, testContextFor({ ...context.app, ...(await context.app.replica()) })];
  lifecycle = lifecycleClient(context);
  [ada, locked] = await Promise.all([context.admin(), context.admin()]);
  const settings = { settings: { lock_published: true } };
  await context.app.request('PATCH', '/organization', { as: locked.as, body: settings });
});
afterAll(() => replicas?.[0].app.stop());

const tree = {
  title: 'SOP',
  nodes: ['A', 'B'].map((title) => ({ node_type: 'section', title })),
};
const getVersion = ({ headers }: TestResponse) => Number(headers.get('etag')?.slice(1, -1));
const edits = Object.values(contentWrites);

test('a publish and an edit: the hash is that of the words, or cleared', async () => {
  const results = await runRounds(async (round) => {
    const draft = await replicas[0].create(ada, tree);
    const write = edits[round % edits.length];
    const [published, edited] = await sendBoth(
      round,
      () => lifecycleClient(replicas[round % 2 === 0 ? 0 : 1]).publish(ada, draft.id),
      () => write?.(replicas[1], ada, draft) as Promise<TestResponse>,
    );
    expect([published.status, edited.status < 300]).toEqual([200, true]);
    const isEditFirst = getVersion(edited) < getVersion(published);
    const after = await lifecycle.get(ada, draft.id);
    expect(await hashDocument(published.body)).toBe(published.body.content_hash);
    expect(after.content_hash).toBe(isEditFirst ? await hashDocument(after) : null);
    return isEditFirst ? 'edit, publish' : 'publish, edit';
  });
  expect([...results.keys()].sort()).toEqual(['edit, publish', 'publish, edit']);
});

/** Creates an archived version and the version that replaced it. */
async function createVersions(): Promise<{ archived: string; published: string }> {
  const { id } = await lifecycle.createPublished(ada, tree);
  const draft = await lifecycle.createRevision(ada, id);
  await replicas[0].request(ada, 'PATCH', draft.id, { title: 'Second' });
  await lifecycle.publish(ada, draft.id);
  return { archived: id, published: draft.id };
}

test(
  'a restore and a publish: the draft revises the published version',
  async () => {
    const results = await runRounds(async (round) => {
      const { archived, published } = await createVersions();
      const next = await lifecycle.createRevision(ada, published);
      const [first, second] = round % 2 === 0 ? replicas : replicas.toReversed();
      const [restored, { status }] = await sendBoth(
        round,
        () => (first as TestContext).request(ada, 'POST', `${archived}/restore`),
        () => lifecycleClient(second as TestContext).publish(ada, next.id),
      );
      expect([restored.status, status]).toEqual([201, 200]);
      expect(restored.body).toMatchObject({ status: 'draft', title: 'SOP' });
      expect([published, next.id]).toContain(restored.body.parent_doc_id);
      return restored.body.parent_doc_id === published ? 'restore, publish' : 'publish, restore';
    });
    expect([...results.keys()].sort()).toEqual(['publish, restore', 'restore, publish']);
  },
  timeoutMs,
);

test(
  'a restore and an archive: the links of the draft are revoked, too',
  async () => {
    const results = await runRounds(async (round) => {
      const { archived, published } = await createVersions();
      const [first, second] = round % 2 === 0 ? replicas : replicas.toReversed();
      const [restored, { status }] = await sendBoth(
        round,
        () => (first as TestContext).request(ada, 'POST', `${archived}/restore`),
        () => lifecycleClient(second as TestContext).archive(ada, published),
      );
      expect([restored.status, status]).toEqual([201, 200]);
      expect([published, archived]).toContain(restored.body.parent_doc_id);
      const rows = replicas[0].app.db.collection<{ _id: string }>('documents');
      expect(await rows.findOne({ _id: restored.body.id })).toMatchObject({ share_epoch: 1 });
      return restored.body.parent_doc_id === published ? 'restore, archive' : 'archive, restore';
    });
    expect([...results.keys()].sort()).toEqual(['archive, restore', 'restore, archive']);
  },
  timeoutMs,
);

test('a publish and an edit with a lock: the hash is that of the words', async () => {
  const results = await runRounds(async (round) => {
    const draft = await replicas[0].create(locked, tree);
    const write = edits[round % edits.length];
    const [published, edited] = await sendBoth(
      round,
      () => lifecycleClient(replicas[round % 2 === 0 ? 0 : 1]).publish(locked, draft.id),
      () => write?.(replicas[1], locked, draft) as Promise<TestResponse>,
    );
    expect(published.status).toBe(200);
    if (edited.status >= 300) expect(outcome(edited)).toEqual([400, 'document_locked']);
    const after = await lifecycle.get(locked, draft.id);
    expect(after).toEqual(published.body);
    expect(await hashDocument(after)).toBe(after.content_hash);
    return edited.status < 300 ? 'edit, publish' : 'publish';
  });
  expect([...results.keys()].sort()).toEqual(['edit, publish', 'publish']);
});
