/** Tests of a public link while its document is revised, archived and republished, with a replica. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { register, type TestApp, testApp, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { type LifecycleClient, lifecycleClient } from '../documents/testing/lifecycle.ts';
import { type TestContext, type TestMember, testContextFor } from '../documents/testing/test-context.ts';
import { identity } from '../testing/services.ts';
import { sharing } from './service.ts';

let app: TestApp;
let replica: Pick<TestApp, 'request'>;
let context: TestContext;
let lifecycle: LifecycleClient;
let ada: TestMember;
let slug: string;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  app = await testApp({ services, contracts: services.map(({ contract }) => contract) });
  replica = await app.replica();
  context = testContextFor(app);
  lifecycle = lifecycleClient(context);
  const { key, userId, ...person } = await register(app);
  ada = { as: key, id: userId };
  slug = person.slug;
});
afterAll(() => app?.stop());

const share = async (id: string): Promise<string> =>
  (await context.request(ada, 'POST', `${id}/share-token`)).body.token;
const getToken = async (id: string) => (await context.request(ada, 'GET', `${id}/share-token`)).body;
const embed = (token: string, at: Pick<TestApp, 'request'> = app) =>
  at.request('GET', `/embed/${slug}/${token}`);
const getStatuses = async (token: string) =>
  (await Promise.all([embed(token), embed(token, replica)])).map(({ status }) => status);

/** Publishes a revision with `version` in all titles; returns its id. */
async function publishVersion(documentId: string, version: string): Promise<string> {
  const draft = await lifecycle.createRevision(ada, documentId);
  const [section] = (await lifecycle.get(ada, draft.id)).nodes;
  await context.request(ada, 'PATCH', `${draft.id}`, { version, title: `SOP ${version}` });
  await context.request(ada, 'PATCH', `${draft.id}/nodes/${section.id}`, { title: `Section ${version}` });
  const { status } = await lifecycle.publish(ada, draft.id);
  expect(status).toBe(200);
  return draft.id;
}

test('clients that poll during publications see every version exactly once', async () => {
  const steps = Array.from({ length: 40 }, (_, at) => ({ node_type: 'step', title: `Step ${at}` }));
  const nodes = [{ node_type: 'section', title: 'Section 1', children: steps }];
  let { id } = await lifecycle.createPublished(ada, { title: 'SOP 1', version: '1', nodes });
  const token = await share(id);
  const readJson = (at: typeof replica) => async () => {
    const { status, body } = await embed(token, at);
    if (status !== 200) return `a ${status}`;
    const { version, title, nodes: embedded } = body;
    const isConsistent = title === `SOP ${version}` && embedded[0].title === `Section ${version}`;
    return isConsistent && embedded[0].children.length === steps.length ? version : 'a mix';
  };
  const readPage = (at: typeof replica) => async () => {
    const { status, bytes } = await embed(`${token}?format=html`, at);
    if (status !== 200) return `a ${status}`;
    const html = Buffer.from(bytes).toString();
    const [, version] = /<h1>SOP (\d+)<\/h1>/.exec(html) ?? [];
    const isConsistent =
      html.includes(`<dd>${version}</dd>`) && html.includes(`>Section ${version}</span></h2>`);
    return isConsistent ? version : 'a mix';
  };
  const clients = [readJson(app), readJson(replica), readPage(app), readPage(replica)];
  const seen = clients.map((): unknown[] => []);
  let isDone = false;
  const polling = Promise.all(
    clients.map(async (read, at) => {
      while (!isDone) {
        const version = await read();
        if (seen[at]?.at(-1) !== version) seen[at]?.push(version);
        // the polling interval; the test does not wait for anything here
        await pause(5);
      }
    }),
  );
  const versions = ['2', '3', '4', '5', '6', '7'];
  const waitUntilSeen = (version: string) =>
    until(`all clients have seen ${version}`, async () =>
      seen.every((versions) => versions.includes(version)),
    );
  try {
    await waitUntilSeen('1');
    for (const version of versions) {
      id = await publishVersion(id, version);
      expect((await embed(token, replica)).body.id).toBe(id);
      expect(await getToken(id)).toMatchObject({ token, document_id: id });
      await waitUntilSeen(version);
    }
  } finally {
    isDone = true;
    await polling;
  }
  expect(seen).toEqual(clients.map(() => ['1', ...versions]));
});

test('a draft neither changes the public link nor appears in it', async () => {
  const { id } = await lifecycle.createPublished(ada, { title: 'Published', version: '1' });
  const token = await share(id);
  const draft = await lifecycle.createRevision(ada, id);
  await context.request(ada, 'PATCH', `${draft.id}`, { title: 'Secret plans', version: '2' });
  expect((await embed(token)).body).toMatchObject({ id, title: 'Published' });
  expect(await getToken(draft.id)).toBeNull();
  expect((await context.request(ada, 'DELETE', `${draft.id}/share-token`)).status).toBe(204);
  expect((await embed(token)).status).toBe(200);
});

test('archiving disables the public link at once on all replicas', async () => {
  const { id } = await lifecycle.createPublished(ada);
  const token = await share(id);
  expect(await getStatuses(token)).toEqual([200, 200]);
  const etag = (await embed(token)).headers.get('etag') ?? '';
  expect((await lifecycle.archive(ada, id)).status).toBe(200);
  expect(await getStatuses(token)).toEqual([404, 404]);
  const again = await app.request('GET', `/embed/${slug}/${token}`, { headers: { 'if-none-match': etag } });
  expect(again.status).toBe(404);
  expect(await getToken(id)).toBeNull();
  expect((await context.request(ada, 'POST', `${id}/share-token`)).body.code).toBe('document_not_published');
});

test('deleting the token disables the public link at once on all replicas', async () => {
  const { id } = await lifecycle.createPublished(ada);
  const token = await share(id);
  expect(await getStatuses(token)).toEqual([200, 200]);
  await context.request(ada, 'DELETE', `${id}/share-token`);
  expect(await getStatuses(token)).toEqual([404, 404]);
});

test('publishing again after archiving does not revive the old public link', async () => {
  const { id } = await lifecycle.createPublished(ada);
  const token = await share(id);
  const tokens = app.db.collection<{ _id: string; family_id: string }>('share_tokens');
  const row = await tokens.findOne({ family_id: id });
  const draft = await lifecycle.createRevision(ada, id);
  await lifecycle.archive(ada, id);
  await until('the token is deleted', async () => (await tokens.findOne({ family_id: id })) === null);
  await lifecycle.publish(ada, draft.id);
  expect(await getStatuses(token)).toEqual([404, 404]);
  // the link must not work either if the token has not been deleted yet
  if (row) await tokens.insertOne(row);
  expect(await getStatuses(token)).toEqual([404, 404]);
  expect(await getToken(draft.id)).toBeNull();
  const fresh = await share(draft.id);
  expect(fresh).not.toBe(token);
  expect(await getStatuses(fresh)).toEqual([200, 200]);
  expect(await getStatuses(token)).toEqual([404, 404]);
});

test('a new slug replaces old public links at once on all replicas', async () => {
  const { key, token: session, userId, ...bob } = await register(app);
  const mine = { as: key, id: userId };
  const { id } = await lifecycle.createPublished(mine);
  const { token } = (await context.request(mine, 'POST', `${id}/share-token`)).body;
  const at = (name: string) =>
    Promise.all([app, replica].map((instance) => instance.request('GET', `/embed/${name}/${token}`)));
  const statuses = async (name: string) => (await at(name)).map(({ status }) => status);
  expect(await statuses(bob.slug)).toEqual([200, 200]);
  const newSlug = `${bob.slug.slice(0, 30)}-new`;
  const response = await app.request('PATCH', '/organization', { as: session, body: { slug: newSlug } });
  expect(response.status).toBe(200);
  expect(await statuses(bob.slug)).toEqual([404, 404]);
  expect(await statuses(newSlug)).toEqual([200, 200]);
  expect((await context.request(mine, 'GET', `${id}/share-token`)).body.org_slug).toBe(newSlug);
});
