/** Tests of creating, getting and deleting share tokens, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  createDocument,
  type Person,
  publishDocument,
  register,
  type TestApp,
  testApp,
  untilServed,
} from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { ShareToken } from './contract.ts';
import { sharing } from './service.ts';

const appUrl = 'https://docs.example/sops';
let app: TestApp;
let ada: Person;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  const environment = { APP_URL: `${appUrl}/` };
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), environment });
  ada = await register(app);
});
afterAll(() => app?.stop());

const createDraft = async (): Promise<string> => (await createDocument(app, ada.key)).id;
const createPublished = async (): Promise<string> => (await publishDocument(app, ada.key)).id;
const share = (id: string, body?: unknown, as = ada.key) =>
  app.request('POST', `/documents/${id}/share-token`, { as, body });
const getToken = (id: string, as = ada.key) => app.request('GET', `/documents/${id}/share-token`, { as });
const embed = (token: string, slug = ada.slug) => app.request('GET', `/embed/${slug}/${token}`);
const findRows = (family_id: string) =>
  app.db.collection('share_tokens').find({ organization_id: ada.organizationId, family_id }).toArray();

test('each write compares If-Match with the ETag of the document', async () => {
  const id = await createPublished();
  await share(id);
  const { headers } = await app.request('GET', `/documents/${id}`, { as: ada.key });
  const etag = headers.get('etag') ?? '';
  const write = (method: string, ifMatch: string) => {
    const body = { POST: { replace: true }, PATCH: { expires_at: null } }[method];
    const options = { as: ada.key, body, headers: { 'if-match': ifMatch } };
    return app.request(method, `/documents/${id}/share-token`, options);
  };
  const before = (await getToken(id)).body;
  for (const method of ['POST', 'PATCH', 'DELETE']) {
    expect(await write(method, '"0"')).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
    expect(await write(method, 'unquoted')).toMatchObject({ status: 400 });
  }
  expect((await getToken(id)).body).toEqual(before);
  for (const [method, status] of [['POST', 201] as const, ['PATCH', 200] as const, ['DELETE', 204] as const])
    expect(await write(method, etag)).toMatchObject({ status });
});

describe('createShareToken', () => {
  test('creates a token and its public link for a published document', async () => {
    const id = await createPublished();
    const created = await share(id);
    expect(created.status).toBe(201);
    expect(ShareToken.parse(created.body)).toMatchObject({ org_slug: ada.slug, document_id: id });
    expect(created.body.token).toMatch(/^[\w-]{43}$/);
    expect(created.body.url).toBe(`${appUrl}/embed/${ada.slug}/${created.body.token}`);
    expect((await getToken(id)).body).toEqual(created.body);
  });

  test('fails with 400 for a draft', async () => {
    const id = await createDraft();
    expect(await share(id)).toMatchObject({ status: 400, body: { code: 'document_not_published' } });
    expect(await getToken(id)).toMatchObject({ status: 200, body: null });
  });

  test('returns the existing token on a second request', async () => {
    const id = await createPublished();
    const first = await share(id);
    const second = await share(id, {});
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect((await getToken(id)).body).toEqual(first.body);
  });

  test('creates one token for twenty concurrent requests', async () => {
    const id = await createPublished();
    // opens all connections first, so that the requests really run concurrently
    await Promise.all(Array.from({ length: 20 }, () => getToken(id)));
    const responses = await Promise.all(Array.from({ length: 20 }, () => untilServed(() => share(id))));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(responses.map(({ body }) => body.token)).size).toBe(1);
    expect(await findRows(id)).toHaveLength(1);
  });

  test('creates one token for twenty different Idempotency-Keys at once', async () => {
    const id = await createPublished();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        untilServed(() =>
          app.request('POST', `/documents/${id}/share-token`, {
            as: ada.key,
            headers: { 'idempotency-key': `race-${index}` },
          }),
        ),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(responses.map(({ body }) => body.token)).size).toBe(1);
  });

  test('replays the same link and Location for a repeated Idempotency-Key', async () => {
    const id = await createPublished();
    const create = () =>
      app.request('POST', `/documents/${id}/share-token`, {
        as: ada.key,
        headers: { 'idempotency-key': id },
      });
    const [first, second] = [await create(), await create()];
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
    for (const { headers } of [first, second])
      expect(headers.get('location')).toBe(`/api/v1/documents/${id}/share-token`);
  });

  test('leaves one valid token after concurrent replacements', async () => {
    const id = await createPublished();
    const old = (await share(id)).body.token;
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => untilServed(() => share(id, { replace: true }))),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(responses.map(({ body }) => body.token)).not.toContain(old);
    expect((await embed((await getToken(id)).body.token)).status).toBe(200);
    expect((await embed(old)).status).toBe(404);
  });

  test('does not store the token in plain text', async () => {
    const id = await createPublished();
    const { token } = (await share(id)).body;
    const [row] = await findRows(id);
    expect(JSON.stringify(row)).not.toContain(token);
  });

  test('rejects an unknown field with 400', async () => {
    const id = await createPublished();
    const response = await share(id, { replaced: true });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: 'body/replaced' }] } });
  });
});

describe('replacing and deleting a share token', () => {
  test('replace disables the old link with the next request', async () => {
    const id = await createPublished();
    const old = (await share(id)).body.token;
    expect((await embed(old)).status).toBe(200);
    const newToken = (await share(id, { replace: true })).body.token;
    expect(newToken).not.toBe(old);
    expect((await embed(old)).status).toBe(404);
    expect((await embed(newToken)).status).toBe(200);
  });

  test('replace creates a token if there is none', async () => {
    const id = await createPublished();
    expect((await share(id, { replace: true })).status).toBe(201);
  });

  test('delete disables the link with the next request and is idempotent', async () => {
    const id = await createPublished();
    const { token } = (await share(id)).body;
    expect((await embed(token)).status).toBe(200);
    const deleteToken = () => app.request('DELETE', `/documents/${id}/share-token`, { as: ada.key });
    expect((await deleteToken()).status).toBe(204);
    expect((await embed(token)).status).toBe(404);
    expect((await getToken(id)).body).toBeNull();
    expect((await deleteToken()).status).toBe(204);
  });
});

describe('access to share tokens', () => {
  /** Creates a document and an API key with the role `member` whose user does not own the document. */
  async function createUnownedDocument(): Promise<{ id: string; key: string }> {
    const id = await createPublished();
    const rows = app.db.collection<{ _id: string }>('documents');
    await rows.updateOne({ _id: id }, { $set: { created_by: newId() } });
    const created = await app.request('POST', '/api-keys', {
      as: ada.token,
      body: { name: 'Reader', role: 'member' },
    });
    return { id, key: created.body.key };
  }

  test('a member who is neither owner nor admin may only read the token', async () => {
    const { id, key } = await createUnownedDocument();
    const { token } = (await share(id)).body;
    expect(await share(id, undefined, key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const deleted = await app.request('DELETE', `/documents/${id}/share-token`, { as: key });
    expect(deleted.status).toBe(403);
    expect((await getToken(id, key)).body.token).toBe(token);
  });

  test('another organization gets 404', async () => {
    const id = await createPublished();
    await share(id);
    const eve = await register(app);
    const requests = ['POST', 'GET', 'DELETE'].map((method) =>
      app.request(method, `/documents/${id}/share-token`, { as: eve.key }),
    );
    for (const { status, body } of await Promise.all(requests))
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
    expect((await getToken(id)).body).not.toBeNull();
  });

  test('a request without credentials gets 401, a malformed id 404', async () => {
    const id = await createPublished();
    expect((await app.request('POST', `/documents/${id}/share-token`)).status).toBe(401);
    expect((await share('nonsense')).status).toBe(404);
  });
});
