/** Tests of which tokens are deleted after documents are archived or deleted, in any order of events. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createWebhook, register, until } from '#libs/testing';
import { type LifecycleClient, lifecycleClient } from '../documents/testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from '../documents/testing/test-context.ts';
import { services } from '../testing/services.ts';

let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;
let slug: string;

beforeAll(async () => {
  context = await testContext(services);
  lifecycle = lifecycleClient(context);
  const { key, userId, ...person } = await register(context.app);
  ada = { as: key, id: userId };
  slug = person.slug;
});
afterAll(() => context?.app.stop());

const share = async (id: string): Promise<string> =>
  (await context.request(ada, 'POST', `${id}/share-token`)).body.token;
const works = async (token: string) =>
  (await context.app.request('GET', `/embed/${slug}/${token}`)).status === 200;
const tokens = () => context.app.db.collection<{ _id: string; family_id: string }>('share_tokens');
const findToken = (family_id: string) => tokens().findOne({ family_id });
const waitUntilDeleted = (family_id: string) =>
  until('the token is deleted', async () => (await findToken(family_id)) === null);

/** Waits until sharing has processed all its events about these documents. */
async function waitUntilProcessed(...ids: string[]): Promise<void> {
  const inbox = context.app.db.collection<{ _id: string }>('sharing_inbox');
  const events = (await lifecycle.publishedEvents(...ids)).filter(({ type }) =>
    /\.(archived|deleted)$/.test(type),
  );
  expect(events.length).toBeGreaterThan(0);
  const all = { _id: { $in: events.map(({ id }) => id) } };
  await until(
    'sharing has processed the events',
    async () => (await inbox.countDocuments(all)) === events.length,
  );
}

test('the token of an archived document is deleted', async () => {
  const { id } = await lifecycle.createPublished(ada);
  await share(id);
  await lifecycle.archive(ada, id);
  await waitUntilDeleted(id);
});

test('the token of a family survives new revisions and deleted drafts', async () => {
  const { id } = await lifecycle.createPublished(ada);
  const token = await share(id);
  const revision = await lifecycle.createRevision(ada, id);
  await lifecycle.publish(ada, revision.id);
  const draft = await lifecycle.createRevision(ada, revision.id);
  await lifecycle.remove(ada, draft.id);
  await waitUntilProcessed(draft.id);
  expect(await works(token)).toBe(true);
  expect(await findToken(revision.id)).toBeNull();
  expect(await findToken(id)).not.toBeNull();
});

test('a redelivered archive event does not delete a newer token', async () => {
  const { id } = await lifecycle.createPublished(ada);
  await share(id);
  const draft = await lifecycle.createRevision(ada, id);
  await lifecycle.archive(ada, id);
  await waitUntilDeleted(id);
  await lifecycle.publish(ada, draft.id);
  const token = await share(draft.id);
  await createWebhook(context.app, ada.as, 'http://127.0.0.1:9/', ['document.archived']);
  const trigger = { event_type: 'document.archived' };
  for (const documentId of [id, draft.id])
    expect(
      (await context.request(ada, 'POST', `${documentId}/trigger-webhooks`, trigger)).body.dispatched,
    ).toBe(true);
  await waitUntilProcessed(id, draft.id);
  expect(await works(token)).toBe(true);
});

test('a dead token is deleted together with the last draft', async () => {
  const { id } = await lifecycle.createPublished(ada);
  await share(id);
  const row = await findToken(id);
  const draft = await lifecycle.createRevision(ada, id);
  await lifecycle.archive(ada, id);
  await waitUntilDeleted(id);
  if (row) await tokens().insertOne(row);
  await lifecycle.remove(ada, draft.id);
  await waitUntilDeleted(id);
});
