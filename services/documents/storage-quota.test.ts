/** Tests the limits of documents over HTTP with two replicas and a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type HttpClient, readMetric, setPlan, until, untilServed } from '#libs/testing';
import { findBrokenInvariants } from '../../tools/admin/verify/broken-invariants.ts';
import { storageInvariants } from '../../tools/admin/verify/storage.ts';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

const maxDocuments = 6;
const block = 64 * 1024;
const maxBlocks = 6;

let context: TestContext;
let replica: HttpClient;

beforeAll(async () => {
  context = await testContext([identity, documents], {
    DEFAULT_PLAN: 'trial',
    STORAGE_LIMITS_TRIAL: `documents=${maxDocuments}`,
    STORAGE_LIMITS_TEAM: `documents=unlimited, document_bytes=${maxBlocks * block}`,
  });
  replica = await context.app.replica();
});
afterAll(() => context?.app.stop());

/** An organization with its admin. */
interface Tenant extends TestMember {
  organizationId: string;
}

/** Registers an organization with a plan. */
async function tenant(plan: 'trial' | 'team' | 'scale' = 'trial'): Promise<Tenant> {
  const admin = await context.admin();
  const { body } = await context.app.request('GET', '/organization', { as: admin.as });
  if (plan !== 'trial') await setPlan(context.app, body.id, plan);
  return { ...admin, organizationId: body.id };
}

const post = (member: TestMember, path: string, body?: unknown, headers = {}) =>
  context.request(member, 'POST', path, body, headers);

/** Sends a request that creates a document. */
const create = (member: TestMember, body: unknown = { title: 'T' }, headers: Record<string, string> = {}) =>
  context.app.request('POST', '/documents', { as: member.as, body, headers });

/** A section with rich text of at least this many bytes. */
const section = (bytes: number) => ({
  node_type: 'section',
  title: 'S',
  content: {
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'x'.repeat(bytes) }] }],
  },
});

async function readStorage({ as }: TestMember): Promise<Record<string, { used: number; limit: number }>> {
  return (await context.app.request('GET', '/organization/subscription', { as })).body.storage;
}

/** The counter of an organization in MongoDB. */
async function readCounter({ organizationId }: Tenant) {
  const counters = context.app.db.collection<{ _id: string; documents: number; blocks: number }>(
    'storage_usage',
  );
  const counter = await counters.findOne({ _id: organizationId });
  return counter && { documents: counter.documents, blocks: counter.blocks };
}

/** The organizations whose counters or documents contradict each other. */
async function findFaults(): Promise<readonly string[]> {
  const faults: string[] = [];
  const options = { now: new Date(), graceMs: 0 };
  for await (const { examples } of findBrokenInvariants(context.app.db, storageInvariants, options))
    faults.push(...examples);
  return faults;
}

describe('a limit of documents', () => {
  test('20 concurrent requests with 3 places left create exactly 3', async () => {
    const ada = await tenant();
    const original = await context.create(ada, { title: 'Original', nodes: [section(10)] });
    expect((await post(ada, `${original.id}/publish`)).status).toBe(200);
    const archived = await context.create(ada);
    for (const change of ['publish', 'archive'])
      expect((await post(ada, `${archived.id}/${change}`)).status).toBe(200);
    for (let at = 2; at < maxDocuments - 3; at += 1) await context.create(ada);
    const requests = [
      (client: HttpClient) => client.request('POST', '/documents', { as: ada.as, body: { title: 'T' } }),
      (client: HttpClient) =>
        client.request('POST', '/documents', {
          ...{ as: ada.as, body: { title: 'T', nodes: [section(10)] } },
          headers: { 'idempotency-key': newId() },
        }),
      (client: HttpClient) => client.request('POST', `/documents/${original.id}/duplicate`, { as: ada.as }),
      (client: HttpClient) => client.request('POST', `/documents/${original.id}/revise`, { as: ada.as }),
      (client: HttpClient) => client.request('POST', `/documents/${archived.id}/restore`, { as: ada.as }),
    ];
    const responses = await Promise.all(
      requests.flatMap((send) =>
        [context.app, replica, context.app, replica].map((client) => untilServed(() => send(client))),
      ),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(statuses.filter((status) => status === 402)).toHaveLength(17);
    expect(responses.find(({ status }) => status === 402)?.body).toMatchObject({
      code: 'storage_quota_exhausted',
      ...{ storage_limit: 'documents', limit: maxDocuments, used: maxDocuments },
      detail:
        'Your plan allows 6 documents; 6 are used. Delete drafts, or ask the operator for a larger plan.',
    });
    expect((await readStorage(ada)).documents).toEqual({ used: maxDocuments, limit: maxDocuments });
    expect(await readCounter(ada)).toEqual({ documents: maxDocuments, blocks: maxDocuments });
    expect(await findFaults()).toEqual([]);
  });

  test('a deleted draft frees its place, an archived document does not', async () => {
    const ada = await tenant();
    const ids = [];
    for (let at = 0; at < maxDocuments; at += 1) ids.push((await context.create(ada)).id);
    const [first, second] = ids;
    expect((await create(ada)).status).toBe(402);
    for (const change of ['publish', 'archive'])
      expect((await post(ada, `${first}/${change}`)).status).toBe(200);
    expect((await create(ada)).status).toBe(402);
    expect((await context.request(ada, 'DELETE', second)).status).toBe(204);
    expect((await create(ada)).status).toBe(201);
    expect((await create(ada)).status).toBe(402);
    expect(await findFaults()).toEqual([]);
  });

  test('a repeated request with an Idempotency-Key counts once', async () => {
    const ada = await tenant();
    const headers = { 'idempotency-key': newId() };
    for (let at = 0; at < 3; at += 1) expect((await create(ada, undefined, headers)).status).toBe(201);
    expect(await readCounter(ada)).toEqual({ documents: 1, blocks: 1 });
  });

  test('a rejected request is counted by the metric and changes nothing', async () => {
    const ada = await tenant();
    for (let at = 0; at < maxDocuments; at += 1) await context.create(ada);
    const labels = { service: 'documents', limit: 'documents' };
    const before = await readMetric(context.app.management, 'quota_rejections_total', labels);
    const nodes = context.app.db.collection('nodes');
    expect((await create(ada, { title: 'T', nodes: [section(10)] })).status).toBe(402);
    expect(await readMetric(context.app.management, 'quota_rejections_total', labels)).toBe(before + 1);
    expect(await nodes.countDocuments({ organization_id: ada.organizationId })).toBe(0);
  });
});

describe('a limit of bytes', () => {
  const resize = (member: TestMember, id: string, bytes: number) =>
    context.request(member, 'PUT', `${id}/nodes`, { nodes: [section(bytes)] });

  test('growing is limited, shrinking gives the bytes back', async () => {
    const ada = await tenant('team');
    const [one, two] = [await context.create(ada), await context.create(ada)];
    expect((await resize(ada, one.id, 3 * block)).status).toBe(200);
    expect((await readStorage(ada)).document_bytes).toEqual({ used: 5 * block, limit: maxBlocks * block });
    const rejected = await resize(ada, two.id, 3 * block);
    expect(rejected.body).toMatchObject({
      ...{ status: 402, code: 'storage_quota_exhausted', storage_limit: 'document_bytes' },
      ...{ limit: maxBlocks * block, used: 5 * block },
    });
    expect(rejected.body.detail).toContain('and this request needs 196,608 more');
    expect((await resize(ada, two.id, block)).status).toBe(200);
    const duplicate = await post(ada, `${one.id}/duplicate`);
    expect([duplicate.status, duplicate.body.storage_limit]).toEqual([402, 'document_bytes']);
    // without another block, an edit is possible at the limit
    expect((await resize(ada, one.id, 3 * block + 100)).status).toBe(200);
    expect((await resize(ada, one.id, 10)).status).toBe(200);
    expect((await resize(ada, two.id, 3 * block)).status).toBe(200);
    expect(await readCounter(ada)).toEqual({ documents: 2, blocks: 5 });
    expect(await findFaults()).toEqual([]);
  });

  test('many nodes without rich text are charged, too', async () => {
    const ada = await tenant('team');
    const nodes = Array.from({ length: 64 * maxBlocks }, () => ({ node_type: 'section', title: 'S' }));
    expect((await create(ada, { title: 'T', nodes })).body.storage_limit).toBe('document_bytes');
    const { status, body } = await create(ada, { title: 'T', nodes: nodes.slice(65) });
    expect(status).toBe(201);
    const node = { node_type: 'section', title: 'S', order: 1 };
    expect((await post(ada, `${body.id}/nodes`, node)).status).toBe(201);
    expect((await readStorage(ada)).document_bytes?.used).toBe(maxBlocks * block);
    expect((await post(ada, `${body.id}/duplicate`)).status).toBe(402);
  });

  test('concurrent edits of several documents stay within the limit', async () => {
    const ada = await tenant('team');
    const drafts = [await context.create(ada), await context.create(ada), await context.create(ada)];
    const responses = await Promise.all(drafts.map(({ id }) => resize(ada, id, 2 * block)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
    expect(await readCounter(ada)).toEqual({ documents: 3, blocks: 5 });
    expect(await findFaults()).toEqual([]);
  });
});

describe('a change of the plan', () => {
  test('an unlimited plan charges nothing', async () => {
    const ada = await tenant('scale');
    const { id } = await until('the plan', async () => {
      const created = await context.create(ada);
      const row = await context.app.db.collection<{ _id: string }>('documents').findOne({ _id: created.id });
      return row && !('charged_blocks' in row) && created;
    });
    const before = await readCounter(ada);
    await context.request(ada, 'PUT', `${id}/nodes`, { nodes: [section(5 * block)] });
    await post(ada, `${id}/duplicate`);
    expect((await context.request(ada, 'DELETE', id)).status).toBe(204);
    expect(await readCounter(ada)).toEqual(before);
    const { documents, document_bytes } = await readStorage(ada);
    expect([documents?.limit, document_bytes]).toEqual([null, { used: null, limit: null }]);
  });

  test('a larger plan applies at once, and lowering it counts all documents', async () => {
    const ada = await tenant();
    const ids = [];
    for (let at = 0; at < maxDocuments; at += 1) ids.push((await context.create(ada)).id);
    expect((await create(ada)).status).toBe(402);
    await setPlan(context.app, ada.organizationId, 'scale');
    for (let at = 0; at < 4; at += 1)
      ids.push((await context.create(ada, { title: 'T', nodes: [section(block)] })).id);
    await setPlan(context.app, ada.organizationId, 'trial');
    await until('the limit', async () => {
      const { status, body } = await create(ada);
      if (status === 201) ids.push(body.id);
      return status === 402;
    });
    expect((await readCounter(ada))?.documents).toBe(ids.length);
    expect(await findFaults()).toEqual([]);

    const [first, ...others] = ids;
    expect((await context.request(ada, 'GET', first)).status).toBe(200);
    expect((await context.request(ada, 'PATCH', first, { title: 'Changed' })).status).toBe(200);
    expect((await post(ada, `${first}/nodes`, { node_type: 'section', title: 'S', order: 1 })).status).toBe(
      201,
    );
    const above = ids.length - maxDocuments;
    for (const id of others.slice(0, above))
      expect((await context.request(ada, 'DELETE', id)).status).toBe(204);
    expect((await create(ada)).status).toBe(402);
    expect((await context.request(ada, 'DELETE', first)).status).toBe(204);
    expect((await create(ada)).status).toBe(201);
    expect(await findFaults()).toEqual([]);
  });
});
