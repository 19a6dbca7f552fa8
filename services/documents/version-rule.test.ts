/** Tests the version rule of publishing over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type LifecycleClient, lifecycleClient, outcome } from './testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;

beforeAll(async () => {
  context = await testContext([identity, documents], { PUBLISH_LIMIT_TRIAL: '2' });
  lifecycle = lifecycleClient(context);
  ada = await context.admin();
  await lockPublished(ada, true);
});
afterAll(() => context?.app.stop());

async function lockPublished({ as }: TestMember, lock_published: boolean): Promise<void> {
  const body = { settings: { lock_published } };
  expect((await context.app.request('PATCH', '/organization', { as, body })).status).toBe(200);
}

/** Publishes a document with this version and creates a revision draft of it. */
async function createDraftRevision(member: TestMember, version: string | null) {
  const original = await lifecycle.createPublished(member, { title: 'T', version });
  return { original, draft: await lifecycle.createRevision(member, original.id) };
}

const unchanged = [400, 'version_unchanged'];

describe('with lock_published', () => {
  test('publish fails under the version of the parent and changes nothing', async () => {
    const { original, draft } = await createDraftRevision(ada, '1');
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual(unchanged);
    expect(await lifecycle.get(ada, original.id)).toEqual(original);
    expect(await lifecycle.get(ada, draft.id)).toEqual(draft);
    expect([await lifecycle.countPublished(draft.id), await lifecycle.publishedEvents(draft.id)]).toEqual([
      0,
      [],
    ]);
  });

  test('spaces at the ends of a version do not make another one', async () => {
    const { draft } = await createDraftRevision(ada, '1');
    for (const version of [' 1', '1\u00a0'])
      expect(outcome(await context.request(ada, 'PATCH', draft.id, { version }))).toEqual(unchanged);
  });

  test.each(['2', null])('publish succeeds under the version %j', async (version) => {
    const { draft } = await createDraftRevision(ada, '1');
    await context.request(ada, 'PATCH', draft.id, { version });
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  });

  test.each([null, ''])('a parent with the version %j never blocks a publish', async (version) => {
    const { draft } = await createDraftRevision(ada, version);
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  });

  test('a document without a parent is published under any version', async () => {
    const draft = await context.create(ada, { title: 'T', version: '1' });
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  });

  test('the version of the parent counts, not that of the published document', async () => {
    const { original, draft } = await createDraftRevision(ada, '1');
    const other = await lifecycle.createRevision(ada, original.id);
    await context.request(ada, 'PATCH', other.id, { version: '2' });
    expect((await lifecycle.publish(ada, other.id)).status).toBe(200);
    expect(outcome(await lifecycle.publish(ada, draft.id))).toEqual(unchanged);
    await context.request(ada, 'PATCH', draft.id, { version: '2' });
    expect((await lifecycle.publish(ada, draft.id)).status).toBe(200);
  });

  test('the version is checked after If-Match and status, before the quota', async () => {
    const bo = await context.admin();
    await lockPublished(bo, true);
    const { original, draft } = await createDraftRevision(bo, '1');
    await lifecycle.setPlan(original.organization_id, 'trial');
    await lifecycle.createPublished(bo);
    expect(outcome(await lifecycle.publish(bo, draft.id, { 'if-match': '"0"' }))[0]).toBe(412);
    expect(outcome(await lifecycle.publish(bo, draft.id))).toEqual(unchanged);
    await context.request(bo, 'PATCH', draft.id, { version: '2' });
    expect(outcome(await lifecycle.publish(bo, draft.id))[0]).toBe(402);
    await context.set(draft.id, { version: '1', status: 'archived' });
    expect(outcome(await lifecycle.publish(bo, draft.id))).toEqual([400, 'document_not_draft']);
  });
});

test('without lock_published a revision may keep its parent’s version', async () => {
  const bo = await context.admin();
  const { draft } = await createDraftRevision(bo, '1');
  const { status, body } = await lifecycle.publish(bo, draft.id);
  expect([status, body.version]).toEqual([200, '1']);
});

test('lock_published counts at the time of the publish', async () => {
  const bo = await context.admin();
  const { draft } = await createDraftRevision(bo, '1');
  await lockPublished(bo, true);
  expect(outcome(await lifecycle.publish(bo, draft.id))).toEqual(unchanged);
  await lockPublished(bo, false);
  expect((await lifecycle.publish(bo, draft.id)).status).toBe(200);
});
