/** Which tokens are deleted when documents end, and which are not, whatever order events come in. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { register, until } from '#libs/testing';
import { type LifecycleClient, lifecycleClient } from '../documents/testing/lifecycle.ts';
import { type TestContext, type TestMember, testContext } from '../documents/testing/test-context.ts';
import { services } from '../services.ts';

let home: TestContext;
let life: LifecycleClient;
let ada: TestMember;
let slug: string;

beforeAll(async () => {
  home = await testContext(services);
  life = lifecycleClient(home);
  const { key, userId, ...person } = await register(home.app);
  ada = { as: key, id: userId };
  slug = person.slug;
}, 60_000);
afterAll(() => home?.app.stop());

const share = async (id: string): Promise<string> =>
  (await home.request(ada, 'POST', `${id}/share-token`)).body.token;
const opens = async (token: string) =>
  (await home.app.request('GET', `/embed/${slug}/${token}`)).status === 200;
const tokens = () => home.app.db.collection<{ _id: string; family_id: string }>('share_tokens');
const kept = (family_id: string) => tokens().findOne({ family_id });
const forgotten = (family_id: string) =>
  until('its token is forgotten', async () => (await kept(family_id)) === null);

/** Waits until sharing has handled everything that was said of these documents and that it hears. */
async function heard(...ids: string[]): Promise<void> {
  const inbox = home.app.db.collection<{ _id: string }>('sharing_inbox');
  const said = (await life.publishedEvents(...ids)).filter(({ type }) => /\.(archived|deleted)$/.test(type));
  expect(said.length).toBeGreaterThan(0);
  const all = { _id: { $in: said.map(({ id }) => id) } };
  await until('sharing has heard it', async () => (await inbox.countDocuments(all)) === said.length);
}

test('the token of an archived document is forgotten', async () => {
  const { id } = await life.createPublished(ada);
  await share(id);
  await life.archive(ada, id);
  await forgotten(id);
});

test('the token of a family outlives every version that another takes the place of', async () => {
  const { id } = await life.createPublished(ada);
  const token = await share(id);
  const revision = await life.createRevision(ada, id);
  await life.publish(ada, revision.id);
  const dropped = await life.createRevision(ada, revision.id);
  await life.remove(ada, dropped.id);
  await heard(dropped.id);
  expect(await opens(token)).toBe(true);
  expect(await kept(revision.id)).toBeNull();
  expect(await kept(id)).not.toBeNull();
});

test('an old archiving that is told again takes nothing from a family that was shared anew', async () => {
  const { id } = await life.createPublished(ada);
  await share(id);
  const draft = await life.createRevision(ada, id);
  await life.archive(ada, id);
  await forgotten(id);
  await life.publish(ada, draft.id);
  const token = await share(draft.id);
  const webhook = { name: 'W', url: 'http://127.0.0.1:9/', event_types: ['document.archived'] };
  await home.app.request('POST', '/webhooks', { as: ada.as, body: webhook });
  const fired = { event_type: 'document.archived' };
  for (const about of [id, draft.id])
    expect((await home.request(ada, 'POST', `${about}/trigger-webhooks`, fired)).body.dispatched).toBe(true);
  await heard(id, draft.id);
  expect(await opens(token)).toBe(true);
});

test('a token that was made while its family was archived is forgotten with the last draft', async () => {
  const { id } = await life.createPublished(ada);
  await share(id);
  const late = await kept(id);
  const draft = await life.createRevision(ada, id);
  await life.archive(ada, id);
  await forgotten(id);
  if (late) await tokens().insertOne(late);
  await life.remove(ada, draft.id);
  await forgotten(id);
});
