/** Tests of the controls of a public link over HTTP, with a real MongoDB and a clock that the tests set. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  addMember,
  type Person,
  register,
  type SharedDocument,
  shareDocument,
  type TestApp,
  testApp,
} from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { ShareToken } from './contract.ts';
import { sharing } from './service.ts';

const hourMs = 3_600_000;
let app: TestApp;
let ada: Person;
let link: SharedDocument;
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);
const inHours = (hours: number) => new Date(now().getTime() + hours * hourMs).toISOString();

beforeAll(async () => {
  const services = [identity, documents, sharing];
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), now });
  ada = await register(app);
});
afterAll(() => app?.stop());
beforeEach(async () => {
  offsetMs = 0;
  link = await shareDocument(app, ada.key);
});

const send = (method: string, body?: unknown, as = ada.key) =>
  app.request(method, `/documents/${link.id}/share-token`, { as, body });
const change = (body: unknown) => send('PATCH', body);
const read = (query = '', path = link.path) => app.request('GET', path + query);
const getFrames = async () =>
  /frame-ancestors (.*)$/.exec(
    (await read('?format=html')).headers.get('content-security-policy') ?? '',
  )?.[1];

describe('updateShareToken', () => {
  test('returns the whole token, as GET does, and changes only the sent fields', async () => {
    const created = (await send('GET')).body;
    expect(created).toMatchObject({ expires_at: null, allowed_origins: null });
    const expires_at = inHours(1);
    const first = await change({ expires_at });
    expect(first).toMatchObject({ status: 200, body: { ...created, expires_at } });
    const allowed_origins = ['https://intranet.example', 'http://127.0.0.1:8080'];
    const second = await change({ allowed_origins });
    expect(ShareToken.parse(second.body)).toEqual({ ...created, expires_at, allowed_origins });
    expect((await send('GET')).body).toEqual(second.body);
    expect((await change({ expires_at: null })).body).toEqual({ ...created, allowed_origins });
    expect((await change({ allowed_origins: null })).body).toEqual(created);
  });

  test('reads a time with an offset', async () => {
    const end = new Date(Math.ceil(now().getTime() / 1000) * 1000 + hourMs);
    const local = `${new Date(end.getTime() + 2 * hourMs).toISOString().slice(0, 19)}+02:00`;
    expect((await change({ expires_at: local })).body.expires_at).toBe(end.toISOString());
  });

  test.each([
    ['a past time', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['a time without a zone', { expires_at: '2099-01-01T00:00:00' }, 'expires_at'],
    ['a date', { expires_at: '2099-01-01' }, 'expires_at'],
    ['a day that does not exist', { expires_at: '2099-02-30T00:00:00Z' }, 'expires_at'],
    ['a number', { expires_at: 4_102_444_800_000 }, 'expires_at'],
    ['an empty time', { expires_at: '' }, 'expires_at'],
    ['an origin with a path', { allowed_origins: ['https://a.example/wiki'] }, 'allowed_origins/0'],
    ['any origin', { allowed_origins: ['*'] }, 'allowed_origins/0'],
    ['a wildcard', { allowed_origins: ['https://a.example', 'https://*.example'] }, 'allowed_origins/1'],
    ['a text instead of a list', { allowed_origins: 'https://a.example' }, 'allowed_origins'],
    ['51 origins', { allowed_origins: Array(51).fill('https://a.example') }, 'allowed_origins'],
    ['an unknown field', { expires: null }, 'expires'],
    ['no field', {}, ''],
  ])('rejects %s with 400 and changes nothing', async (_name, body, path) => {
    const before = (await send('GET')).body;
    const { status, body: problem } = await change(body);
    expect([status, problem.code]).toEqual([400, 'invalid_request']);
    expect(problem.errors[0].path).toBe(path ? `body/${path}` : 'body');
    expect((await send('GET')).body).toEqual(before);
  });

  test('rejects a request in which only one of two controls is valid', async () => {
    const before = (await send('GET')).body;
    const { status } = await change({ allowed_origins: [], expires_at: '2020-01-01T00:00:00Z' });
    expect(status).toBe(400);
    expect((await send('GET')).body).toEqual(before);
  });

  test('fails with 404 without a link', async () => {
    await send('DELETE');
    expect(await change({ expires_at: null })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const draft = await app.request('POST', '/documents', { as: ada.key, body: { title: 'Draft' } });
    const path = `/documents/${draft.body.id}/share-token`;
    expect((await app.request('PATCH', path, { as: ada.key, body: { expires_at: null } })).status).toBe(404);
  });

  test('fails with 403 for members who are neither owner nor admin', async () => {
    const member = await addMember(app, ada.token);
    const response = await send('PATCH', { expires_at: null }, member.token);
    expect(response).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  test('a draft of a revision cannot change the link of the published version', async () => {
    const draft = (await app.request('POST', `/documents/${link.id}/revise`, { as: ada.key })).body.id;
    const path = `/documents/${draft}/share-token`;
    const response = await app.request('PATCH', path, { as: ada.key, body: { allowed_origins: [] } });
    expect(response.status).toBe(404);
    expect((await send('GET')).body.allowed_origins).toBeNull();
  });
});

describe('an expired link', () => {
  test('works until its time and then gives the 404 of every dead link', async () => {
    const expires_at = inHours(2);
    await change({ expires_at });
    const { headers } = await read();
    offsetMs = 2 * hourMs - 10_000;
    expect((await read()).status).toBe(200);
    offsetMs = 2 * hourMs;
    const etag = { 'if-none-match': headers.get('etag') ?? '' };
    const expired = await app.request('GET', link.path, { headers: etag });
    const unknown = await app.request('GET', `/embed/${link.slug}/${'x'.repeat(43)}`, { headers: etag });
    expect(expired.status).toBe(404);
    expect({ ...expired.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    const isComparable = ([name]: [string, string]) => !['date', 'x-request-id'].includes(name);
    expect([...expired.headers].filter(isComparable)).toEqual([...unknown.headers].filter(isComparable));
    expect((await send('GET')).body).toMatchObject({ token: link.token, expires_at });
  });

  test('works again with a later time', async () => {
    await change({ expires_at: inHours(1), allowed_origins: [] });
    offsetMs = hourMs;
    expect((await read()).status).toBe(404);
    expect(await change({ expires_at: inHours(1) })).toMatchObject({ status: 200 });
    expect((await read()).status).toBe(200);
    expect(await getFrames()).toBe("'none'");
  });

  test('is returned by POST, also after a replacement, with its time', async () => {
    const expires_at = inHours(1);
    await change({ expires_at });
    offsetMs = hourMs;
    expect((await send('POST')).body).toMatchObject({ token: link.token, expires_at });
    const replaced = (await send('POST', { replace: true })).body;
    expect(replaced.token).not.toBe(link.token);
    expect(replaced.expires_at).toBe(expires_at);
    expect((await read('', `/embed/${link.slug}/${replaced.token}`)).status).toBe(404);
  });
});

describe('allowed origins', () => {
  test('replace those of the organization for the page of this link', async () => {
    const bob = await register(app);
    const [own, other] = [await shareDocument(app, bob.key), await shareDocument(app, bob.key)];
    const settings = { embed_origins: ['https://wiki.example'] };
    await app.request('PATCH', '/organization', { as: bob.token, body: { settings } });
    const path = `/documents/${own.id}/share-token`;
    const body = { allowed_origins: ['https://intranet.example'] };
    await app.request('PATCH', path, { as: bob.key, body });
    const getPolicy = async ({ path: at }: SharedDocument) =>
      (await read('?format=html', at)).headers.get('content-security-policy');
    expect(await getPolicy(own)).toMatch(/; frame-ancestors https:\/\/intranet\.example$/);
    expect(await getPolicy(other)).toMatch(/; frame-ancestors https:\/\/wiki\.example$/);
    await app.request('PATCH', path, { as: bob.key, body: { allowed_origins: null } });
    expect(await getPolicy(own)).toBe(await getPolicy(other));
  });

  test('do not limit reading', async () => {
    await change({ allowed_origins: [] });
    const response = await app.request('GET', link.path, { headers: { origin: 'https://evil.example' } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });
});

describe('the controls of a link', () => {
  const controls = () => ({ expires_at: inHours(5), allowed_origins: ['https://intranet.example'] });

  test('stay when the token is replaced and when a revision is published', async () => {
    const set = controls();
    await change(set);
    expect((await send('POST', { replace: true })).body).toMatchObject(set);
    const draft = (await app.request('POST', `/documents/${link.id}/revise`, { as: ada.key })).body.id;
    await app.request('POST', `/documents/${draft}/publish`, { as: ada.key });
    const { body } = await app.request('GET', `/documents/${draft}/share-token`, { as: ada.key });
    expect(body).toMatchObject({ document_id: draft, ...set });
  });

  test('end when the token is deleted', async () => {
    await change(controls());
    await send('DELETE');
    expect((await send('POST')).body).toMatchObject({ expires_at: null, allowed_origins: null });
  });

  test('end when the document is archived, even if the old row still exists', async () => {
    await change(controls());
    // the row of a link that archiving ended, before the event deletes it
    const tokens = app.db.collection('share_tokens');
    await tokens.updateOne({ family_id: link.id }, { $inc: { share_epoch: -1 } });
    expect((await change({ allowed_origins: [] })).status).toBe(404);
    expect((await send('POST')).body).toMatchObject({ expires_at: null, allowed_origins: null });
    expect(await tokens.findOne({ family_id: link.id })).not.toHaveProperty('expires_at');
  });

  test('are not stored if they are not set', async () => {
    const findFields = async () =>
      Object.keys((await app.db.collection('share_tokens').findOne({ family_id: link.id })) ?? {});
    const before = await findFields();
    await change(controls());
    expect(await findFields()).toEqual([...before, 'allowed_origins', 'expires_at']);
    await change({ expires_at: null, allowed_origins: null });
    expect(await findFields()).toEqual(before);
  });

  test('are kept by concurrent replacements and changes of other controls', async () => {
    for (let round = 0; round < 10; round += 1) {
      await change({ expires_at: null, allowed_origins: null });
      const set = controls();
      const responses = await Promise.all([
        change({ expires_at: set.expires_at }),
        send('POST', { replace: true }),
        change({ allowed_origins: set.allowed_origins }),
        send('POST', { replace: true }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([200, 201, 200, 201]);
      const { body } = await send('GET');
      expect(body).toMatchObject(set);
      expect((await read('', `/embed/${link.slug}/${body.token}`)).status).toBe(200);
    }
  });

  test('are lost only by a concurrent deletion, and no row is left half', async () => {
    for (let round = 0; round < 10; round += 1) {
      await send('POST');
      const [changed, deleted] = await Promise.all([change({ allowed_origins: [] }), send('DELETE')]);
      expect([200, 404]).toContain(changed.status);
      expect(deleted.status).toBe(204);
      expect((await send('GET')).body).toBeNull();
    }
  });
});
