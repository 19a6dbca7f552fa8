/**
 * How a public link follows its document through its life, over HTTP: without a gap from version to version,
 * and to its end.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { register, type TestApp, testApp, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { type LifecycleClient, lifecycleClient } from '../documents/testing/lifecycle.ts';
import { type TestContext, type TestMember, testContextFor } from '../documents/testing/test-context.ts';
import { identity } from '../identity/service.ts';
import { sharing } from './service.ts';

let here: TestApp;
let replica: Pick<TestApp, 'request'>;
let home: TestContext;
let life: LifecycleClient;
let ada: TestMember;
let slug: string;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  here = await testApp({ services, contracts: services.map((one) => one.contract) });
  replica = await here.replica();
  home = testContextFor(here);
  life = lifecycleClient(home);
  const { key, userId, ...person } = await register(here);
  ada = { as: key, id: userId };
  slug = person.slug;
}, 60_000);
afterAll(() => here?.stop());

const share = async (id: string): Promise<string> =>
  (await home.request(ada, 'POST', `${id}/share-token`)).body.token;
const tokenOf = async (id: string) => (await home.request(ada, 'GET', `${id}/share-token`)).body;
const embed = (token: string, at: Pick<TestApp, 'request'> = here) =>
  at.request('GET', `/embed/${slug}/${token}`);
const statusesOf = async (token: string) =>
  (await Promise.all([embed(token), embed(token, replica)])).map(({ status }) => status);

/** A revision that says so everywhere, published; gives its id. */
async function nextVersion(options: string, version: string): Promise<string> {
  const draft = await life.createRevision(ada, options);
  const [section] = (await life.get(ada, draft.id)).nodes;
  await home.request(ada, 'PATCH', `${draft.id}`, { version, title: `SOP ${version}` });
  await home.request(ada, 'PATCH', `${draft.id}/nodes/${section.id}`, { title: `Section ${version}` });
  const { status } = await life.publish(ada, draft.id);
  expect(status).toBe(200);
  return draft.id;
}

test('clients that ask every 5 ms while revisions are published see only 200s, and each version once', async () => {
  const steps = Array.from({ length: 40 }, (_, at) => ({ node_type: 'step', title: `Step ${at}` }));
  const nodes = [{ node_type: 'section', title: 'Section 1', children: steps }];
  let { id } = await life.createPublished(ada, { title: 'SOP 1', version: '1', nodes });
  const token = await share(id);
  const jsonAt = (at: typeof replica) => async () => {
    const { status, body } = await embed(token, at);
    if (status !== 200) return `a ${status}`;
    const { version, title, nodes: shown } = body;
    const isWhole = title === `SOP ${version}` && shown[0].title === `Section ${version}`;
    return isWhole && shown[0].children.length === steps.length ? version : 'a mix';
  };
  const pageAt = (at: typeof replica) => async () => {
    const { status, bytes } = await embed(`${token}?format=html`, at);
    if (status !== 200) return `a ${status}`;
    const html = Buffer.from(bytes).toString();
    const [, version] = /<h1>SOP (\d+)<\/h1>/.exec(html) ?? [];
    const isWhole = html.includes(`<dd>${version}</dd>`) && html.includes(`>Section ${version}</span></h2>`);
    return isWhole ? version : 'a mix';
  };
  const clients = [jsonAt(here), jsonAt(replica), pageAt(here), pageAt(replica)];
  const seen = clients.map((): unknown[] => []);
  let isOver = false;
  const asking = Promise.all(
    clients.map(async (look, at) => {
      while (!isOver) {
        const what = await look();
        if (seen[at]?.at(-1) !== what) seen[at]?.push(what);
        // the pace is what is promised about, nothing is waited for
        await pause(5);
      }
    }),
  );
  const versions = ['2', '3', '4', '5', '6', '7'];
  const allHaveSeen = (version: string) =>
    until(`all have seen ${version}`, async () => seen.every((one) => one.includes(version)));
  try {
    await allHaveSeen('1');
    for (const version of versions) {
      id = await nextVersion(id, version);
      expect((await embed(token, replica)).body.id).toBe(id);
      expect(await tokenOf(id)).toMatchObject({ token, document_id: id });
      await allHaveSeen(version);
    }
  } finally {
    isOver = true;
    await asking;
  }
  expect(seen).toEqual(clients.map(() => ['1', ...versions]));
}, 60_000);

test('an open draft leaves the link alone, and shows nothing of itself', async () => {
  const { id } = await life.createPublished(ada, { title: 'Published', version: '1' });
  const token = await share(id);
  const draft = await life.createRevision(ada, id);
  await home.request(ada, 'PATCH', `${draft.id}`, { title: 'Secret plans', version: '2' });
  expect((await embed(token)).body).toMatchObject({ id, title: 'Published' });
  expect(await tokenOf(draft.id)).toBeNull();
  expect((await home.request(ada, 'DELETE', `${draft.id}/share-token`)).status).toBe(204);
  expect((await embed(token)).status).toBe(200);
});

test('archiving stops the link with the next request on every replica, also for those who have the answer', async () => {
  const { id } = await life.createPublished(ada);
  const token = await share(id);
  expect(await statusesOf(token)).toEqual([200, 200]);
  const etag = (await embed(token)).headers.get('etag') ?? '';
  expect((await life.archive(ada, id)).status).toBe(200);
  expect(await statusesOf(token)).toEqual([404, 404]);
  const again = await here.request('GET', `/embed/${slug}/${token}`, { headers: { 'if-none-match': etag } });
  expect(again.status).toBe(404);
  expect(await tokenOf(id)).toBeNull();
  expect((await home.request(ada, 'POST', `${id}/share-token`)).body.code).toBe('document_not_published');
});

test('deleting the token stops the link with the next request on every replica', async () => {
  const { id } = await life.createPublished(ada);
  const token = await share(id);
  expect(await statusesOf(token)).toEqual([200, 200]);
  await home.request(ada, 'DELETE', `${id}/share-token`);
  expect(await statusesOf(token)).toEqual([404, 404]);
});

test('an old link stays dead when a draft of an archived document is published, and a new one is another', async () => {
  const { id } = await life.createPublished(ada);
  const token = await share(id);
  const tokens = here.db.collection<{ _id: string; family_id: string }>('share_tokens');
  const row = await tokens.findOne({ family_id: id });
  const draft = await life.createRevision(ada, id);
  await life.archive(ada, id);
  await until('it is forgotten', async () => (await tokens.findOne({ family_id: id })) === null);
  await life.publish(ada, draft.id);
  expect(await statusesOf(token)).toEqual([404, 404]);
  // nor does it open where it could not be forgotten yet
  if (row) await tokens.insertOne(row);
  expect(await statusesOf(token)).toEqual([404, 404]);
  expect(await tokenOf(draft.id)).toBeNull();
  const fresh = await share(draft.id);
  expect(fresh).not.toBe(token);
  expect(await statusesOf(fresh)).toEqual([200, 200]);
  expect(await statusesOf(token)).toEqual([404, 404]);
});

test('a new slug stops the old links with the next request on every replica, and the new ones open', async () => {
  const { key, token: session, userId, ...bob } = await register(here);
  const mine = { as: key, id: userId };
  const { id } = await life.createPublished(mine);
  const { token } = (await home.request(mine, 'POST', `${id}/share-token`)).body;
  const at = (name: string) =>
    Promise.all([here, replica].map((one) => one.request('GET', `/embed/${name}/${token}`)));
  const statuses = async (name: string) => (await at(name)).map(({ status }) => status);
  expect(await statuses(bob.slug)).toEqual([200, 200]);
  const changed = `${bob.slug.slice(0, 30)}-new`;
  const told = await here.request('PATCH', '/organization', { as: session, body: { slug: changed } });
  expect(told.status).toBe(200);
  expect(await statuses(bob.slug)).toEqual([404, 404]);
  expect(await statuses(changed)).toEqual([200, 200]);
  expect((await home.request(mine, 'GET', `${id}/share-token`)).body.org_slug).toBe(changed);
});
