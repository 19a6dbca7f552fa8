/** Making, showing and ending links, over HTTP with a real MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { ShareToken } from './contract.ts';
import { sharing } from './service.ts';

const appUrl = 'https://docs.example/sops';
let here: TestApp;
let ada: Person;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  const environment = { APP_URL: `${appUrl}/` };
  here = await testApp({ services, contracts: services.map((one) => one.contract), environment });
  ada = await register(here);
}, 60_000);
afterAll(() => here?.stop());

async function draft(): Promise<string> {
  return (await here.request('POST', '/documents', { as: ada.key, body: { title: 'SOP' } })).body.id;
}

async function published(): Promise<string> {
  const id = await draft();
  await here.request('POST', `/documents/${id}/publish`, { as: ada.key });
  return id;
}

const share = (id: string, body?: unknown, as = ada.key) =>
  here.request('POST', `/documents/${id}/share-token`, { as, body });
const shown = (id: string, as = ada.key) => here.request('GET', `/documents/${id}/share-token`, { as });
const embed = (token: string, slug = ada.slug) => here.request('GET', `/embed/${slug}/${token}`);
const rowsOf = (family_id: string) =>
  here.db.collection('share_tokens').find({ organization_id: ada.organizationId, family_id }).toArray();

describe('creating', () => {
  test('a published document gets a token and its public link', async () => {
    const id = await published();
    const made = await share(id);
    expect(made.status).toBe(201);
    expect(ShareToken.parse(made.body)).toMatchObject({ org_slug: ada.slug, document_id: id });
    expect(made.body.token).toMatch(/^[\w-]{43}$/);
    expect(made.body.url).toBe(`${appUrl}/embed/${ada.slug}/${made.body.token}`);
    expect((await shown(id)).body).toEqual(made.body);
  });

  test('a draft has no link', async () => {
    const id = await draft();
    expect(await share(id)).toMatchObject({ status: 400, body: { code: 'document_not_published' } });
    expect(await shown(id)).toMatchObject({ status: 200, body: null });
  });

  test('a second creation returns the same token', async () => {
    const id = await published();
    const first = await share(id);
    const second = await share(id, {});
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect((await shown(id)).body).toEqual(first.body);
  });

  test('twenty racing creations give one token', async () => {
    const id = await published();
    // opens all connections, so that none of the racers is ahead
    await Promise.all(Array.from({ length: 20 }, () => shown(id)));
    const made = await Promise.all(Array.from({ length: 20 }, () => share(id)));
    expect(made.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(made.map(({ body }) => body.token)).size).toBe(1);
    expect(await rowsOf(id)).toHaveLength(1);
  });

  test('twenty racing creations with Idempotency-Keys give one token', async () => {
    const id = await published();
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        here.request('POST', `/documents/${id}/share-token`, {
          as: ada.key,
          headers: { 'idempotency-key': `race-${at}` },
        }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(made.map(({ body }) => body.token)).size).toBe(1);
  });

  test('a repeated creation has the same link and Location', async () => {
    const id = await published();
    const create = () =>
      here.request('POST', `/documents/${id}/share-token`, {
        as: ada.key,
        headers: { 'idempotency-key': id },
      });
    const [first, again] = [await create(), await create()];
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    for (const { headers } of [first, again])
      expect(headers.get('location')).toBe(`/api/v1/documents/${id}/share-token`);
  });

  test('racing replacements leave one living token, which all later readers get', async () => {
    const id = await published();
    const old = (await share(id)).body.token;
    const made = await Promise.all(Array.from({ length: 8 }, () => share(id, { replace: true })));
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(made.map(({ body }) => body.token)).not.toContain(old);
    expect((await embed((await shown(id)).body.token)).status).toBe(200);
    expect((await embed(old)).status).toBe(404);
  });

  test('neither the token nor anything that opens a link is stored in clear', async () => {
    const id = await published();
    const { token } = (await share(id)).body;
    const [row] = await rowsOf(id);
    expect(JSON.stringify(row)).not.toContain(token);
  });

  test('an unknown field is refused', async () => {
    const id = await published();
    const refused = await share(id, { replaced: true });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'body/replaced' }] } });
  });
});

describe('ending', () => {
  test('replace kills the old link with the next request', async () => {
    const id = await published();
    const old = (await share(id)).body.token;
    expect((await embed(old)).status).toBe(200);
    const fresh = (await share(id, { replace: true })).body.token;
    expect(fresh).not.toBe(old);
    expect((await embed(old)).status).toBe(404);
    expect((await embed(fresh)).status).toBe(200);
  });

  test('replace without a token makes the first one', async () => {
    const id = await published();
    expect((await share(id, { replace: true })).status).toBe(201);
  });

  test('delete kills the link with the next request, and again is fine', async () => {
    const id = await published();
    const { token } = (await share(id)).body;
    expect((await embed(token)).status).toBe(200);
    const gone = () => here.request('DELETE', `/documents/${id}/share-token`, { as: ada.key });
    expect((await gone()).status).toBe(204);
    expect((await embed(token)).status).toBe(404);
    expect((await shown(id)).body).toBeNull();
    expect((await gone()).status).toBe(204);
  });
});

describe('who', () => {
  /** A key of the member role, and a document that someone else owns: neither owner nor admin. */
  async function stranger(): Promise<{ id: string; key: string }> {
    const id = await published();
    const rows = here.db.collection<{ _id: string }>('documents');
    await rows.updateOne({ _id: id }, { $set: { created_by: newId() } });
    const made = await here.request('POST', '/api-keys', {
      as: ada.token,
      body: { name: 'Reader', role: 'member' },
    });
    return { id, key: made.body.key };
  }

  test('a member who is neither owner nor admin may look, but neither create nor delete', async () => {
    const { id, key } = await stranger();
    const { token } = (await share(id)).body;
    expect(await share(id, undefined, key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const deleted = await here.request('DELETE', `/documents/${id}/share-token`, { as: key });
    expect(deleted.status).toBe(403);
    expect((await shown(id, key)).body.token).toBe(token);
  });

  test('another organization sees nothing of it', async () => {
    const id = await published();
    await share(id);
    const eve = await register(here);
    const asked = ['POST', 'GET', 'DELETE'].map((method) =>
      here.request(method, `/documents/${id}/share-token`, { as: eve.key }),
    );
    for (const { status, body } of await Promise.all(asked))
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
    expect((await shown(id)).body).not.toBeNull();
  });

  test('nobody without a token or with an ill-formed id gets in', async () => {
    const id = await published();
    expect((await here.request('POST', `/documents/${id}/share-token`)).status).toBe(401);
    expect((await share('nonsense')).status).toBe(404);
  });
});
