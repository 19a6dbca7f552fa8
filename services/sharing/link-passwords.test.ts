/** Tests of public links with a password, over HTTP with a real MongoDB and a clock that the tests set. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  must,
  type Person,
  readMetric,
  register,
  type SharedDocument,
  shareDocument,
  type TestApp,
  type TestResponse,
  testApp,
} from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity, sharing } from '../testing/services.ts';
import { EmbeddedDocument, ShareToken } from './contract.ts';

const password = 'Zürich liegt am See';
const hourMs = 3_600_000;
let app: TestApp;
let ada: Person;
let link: SharedDocument;
/** The services' clock moves only when a test moves it: a password is remembered for a minute. */
const startedAt = Date.now();
let offsetMs = 0;
const now = () => new Date(startedAt + offsetMs);

beforeAll(async () => {
  const services = [identity, documents, sharing];
  const environment = { TRUSTED_PROXIES: '127.0.0.0/8', APP_URL: 'https://docs.example/sops' };
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), environment, now });
  ada = await register(app);
});
afterAll(() => app?.stop());
beforeEach(async () => {
  offsetMs = 0;
  link = await shareDocument(app, ada.key, { title: 'Secret of the vault' });
  await set({ password });
});

const set = (body: unknown) =>
  must(app, 'PATCH', `/documents/${link.id}/share-token`, { as: ada.key, body, status: 200 });
const basic = (text: string, user = 'reader') => `Basic ${Buffer.from(`${user}:${text}`).toString('base64')}`;
const read = (headers: Record<string, string> = {}, query = '') =>
  app.request('GET', link.path + query, { headers });
const readWith = (text: string, headers = {}) => read({ authorization: basic(text), ...headers });
const submit = (text: string, headers = {}, query = '') =>
  app.request('POST', link.path + query, { body: new URLSearchParams({ password: text }), headers });
const browser = { accept: 'text/html' };
const getCookie = ({ headers }: TestResponse) => headers.get('set-cookie')?.split(';')[0] ?? '';
const toText = ({ bytes }: TestResponse) => Buffer.from(bytes).toString();
const getHeaders = ({ headers }: TestResponse, ...names: string[]) => names.map((name) => headers.get(name));

describe('the password of a link', () => {
  test('is shown to nobody and stored as a hash', async () => {
    const token = await must(app, 'GET', `/documents/${link.id}/share-token`, { as: ada.key });
    expect(ShareToken.parse(token).has_password).toBe(true);
    const row = await app.db.collection('share_tokens').findOne({ family_id: link.id });
    expect(row?.password_hash).toMatch(/^scrypt\$[\w-]{22}\$[\w-]{43}$/);
    for (const shown of [token, row]) expect(JSON.stringify(shown)).not.toContain(password);
    expect((await set({ password: null })).has_password).toBe(false);
    expect((await read()).status).toBe(200);
  });

  test.each([
    ['7 characters', '1234567'],
    ['7 characters that were sent as 8', '123456u\u0308'],
    ['129 characters', 'x'.repeat(129)],
    ['10 kB', 'x'.repeat(10_000)],
    ['NUL', '12345678\0'],
    ['half of a character', '12345678\ud83d'],
    ['nothing', ''],
    ['a number', 12345678],
  ])('is rejected with 400 if it has %s', async (_name, wrong) => {
    const response = await app.request('PATCH', `/documents/${link.id}/share-token`, {
      as: ada.key,
      body: { password: wrong },
    });
    expect([response.status, response.body.errors?.[0]?.path]).toEqual([400, 'body/password']);
    expect((await readWith(password)).status).toBe(200);
  });

  test.each([
    ['8 characters', '12345678'],
    ['128 characters of several code units', '😀'.repeat(128)],
    ['spaces at its ends', '  a b c  '],
    ['colons', ':a:b:c:d:'],
  ])('can have %s', async (_name, text) => {
    await set({ password: text });
    expect((await readWith(text)).status).toBe(200);
    expect((await readWith(text.slice(1))).status).toBe(401);
    expect((await submit(text)).status).toBe(303);
  });

  test('is the same in both normal forms of Unicode', async () => {
    for (const form of ['NFC', 'NFD']) {
      await set({ password: password.normalize(form) });
      for (const sent of ['NFC', 'NFD']) {
        expect((await readWith(password.normalize(sent))).status).toBe(200);
        expect((await submit(password.normalize(sent))).status).toBe(303);
      }
    }
  });
});

describe('a program', () => {
  test('reads with the password and any user name', async () => {
    for (const user of ['', 'reader', 'ä😀'])
      expect((await read({ authorization: basic(password, user) })).status).toBe(200);
    expect(EmbeddedDocument.parse((await readWith(password)).body).title).toBe('Secret of the vault');
    expect(
      (await app.request('HEAD', link.path, { headers: { authorization: basic(password) } })).status,
    ).toBe(200);
  });

  test.each([
    ['nothing', undefined],
    ['a wrong password', basic('wrong password')],
    ['no base64', 'Basic %%%'],
    ['no colon', `Basic ${Buffer.from(password).toString('base64')}`],
    ['no UTF-8', `Basic ${Buffer.from([0x3a, 0xff]).toString('base64')}`],
    ['another scheme', `Bearer ${password.replaceAll(' ', '')}`.replace('ü', 'u')],
  ])('gets 401 with a challenge for %s', async (_name, authorization) => {
    const response = await read({ ...(authorization && { authorization }) });
    expect([response.status, response.body.code]).toEqual([401, 'share_password_required']);
    expect(response.headers.get('www-authenticate')).toBe('Basic realm="public link", charset="UTF-8"');
    expect(toText(response)).not.toContain('vault');
  });

  test('gets 401 with its API key, which is no password', async () => {
    expect((await app.request('GET', link.path, { as: ada.key })).status).toBe(401);
  });

  test('gets neither ETag nor 304 without the password', async () => {
    const { headers } = await readWith(password);
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    for (const tag of [etag, '*']) {
      const without = await read({ 'if-none-match': tag });
      expect([without.status, without.headers.get('etag')]).toEqual([401, null]);
      const wrong = await readWith('wrong password', { 'if-none-match': tag });
      expect([wrong.status, wrong.headers.get('etag')]).toEqual([401, null]);
      expect((await readWith(password, { 'if-none-match': tag })).status).toBe(304);
    }
  });

  test('gets responses that shared caches do not store', async () => {
    const etag = (await readWith(password)).headers.get('etag') ?? '';
    const responses = [
      await readWith(password),
      await readWith(password, { 'if-none-match': etag }),
      await readWith(password, browser),
      await read(),
      await read(browser),
      await readWith('wrong password'),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 304, 200, 401, 401, 401]);
    for (const response of responses)
      expect(getHeaders(response, 'cache-control', 'vary')).toEqual([
        'private, no-cache',
        'Accept, Authorization, Cookie',
      ]);
    await set({ password: null });
    expect(getHeaders(await read(), 'cache-control', 'vary')).toEqual(['no-cache', 'Accept']);
  });

  test('gets the same bytes and the same ETag as without a password', async () => {
    const responses = [await readWith(password), await readWith(password, browser)];
    await set({ password: null });
    const open = [await read(), await read(browser)];
    const toComparable = (response: TestResponse) => [toText(response), ...getHeaders(response, 'etag')];
    expect(open.map(toComparable)).toEqual(responses.map(toComparable));
  });
});

describe('a browser', () => {
  test('gets a page with one field, whose challenge opens no dialog', async () => {
    const response = await read(browser);
    expect([response.status, ...getHeaders(response, 'content-type', 'www-authenticate', 'etag')]).toEqual([
      401,
      'text/html; charset=utf-8',
      'Cookie realm="public link"',
      null,
    ]);
    const page = toText(response);
    expect(page.match(/<input/g)).toHaveLength(1);
    for (const hidden of ['vault', ada.slug, link.token, '<script', 'role="alert"'])
      expect(page).not.toContain(hidden);
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self'");
  });

  test('only that page has a form', async () => {
    const [page, missing] = [await readWith(password, browser), await read(browser, '/x')];
    for (const response of [page, missing])
      expect(response.headers.get('content-security-policy')).not.toContain("form-action 'self'");
    expect(page.headers.get('content-security-policy')).toContain("form-action 'none'");
  });

  test('sends the form and is led to the same path with a cookie', async () => {
    for (const query of ['', '?format=html']) {
      const response = await submit(password, browser, query);
      expect([response.status, response.bytes.length]).toEqual([303, 0]);
      expect(getHeaders(response, 'location', 'cache-control')).toEqual([
        `/sops${link.path}${query}`,
        'no-store',
      ]);
      expect(response.headers.get('set-cookie')).toContain(`; Path=/sops${link.path}; `);
      const cookie = getCookie(response);
      expect((await read({ cookie })).status).toBe(200);
      expect((await read({ cookie: `a=b; ${cookie}; pds_link=x`, ...browser })).status).toBe(200);
    }
  });

  test('gets the page again, with a hint, for a wrong password', async () => {
    const response = await submit('wrong password', browser);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    expect(toText(response)).toContain('role="alert"');
    expect(toText(response)).not.toContain('wrong password<');
    expect((await submit('wrong password')).body.code).toBe('share_password_required');
  });

  test('gets 400 for a form without a password, and 415 for JSON', async () => {
    const post = (body: unknown) => app.request('POST', link.path, { body });
    expect((await post(new URLSearchParams())).status).toBe(400);
    expect((await post(new URLSearchParams({ password, user: 'x' }))).status).toBe(400);
    expect(
      (
        await post(
          new URLSearchParams([
            ['password', password],
            ['password', 'x'],
          ]),
        )
      ).status,
    ).toBe(400);
    expect((await post({ password })).status).toBe(415);
  });

  test('is led to the document if the link has no password any more', async () => {
    await set({ password: null });
    const response = await submit('anything', browser);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([303, null]);
  });

  test('gets the 404 of every dead link, also for a form', async () => {
    const path = `/embed/${link.slug}/${'x'.repeat(43)}`;
    const body = new URLSearchParams({ password });
    const unknown = await app.request('POST', path, { body });
    await set({ expires_at: new Date(now().getTime() + hourMs).toISOString() });
    offsetMs = hourMs;
    const expired = await submit(password);
    expect([unknown.status, expired.status, (await readWith(password)).status]).toEqual([404, 404, 404]);
    expect({ ...expired.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
  });
});

describe('a cookie', () => {
  test('is valid for its link only', async () => {
    const cookie = getCookie(await submit(password));
    const own = link;
    link = await shareDocument(app, ada.key);
    await set({ password });
    expect((await read({ cookie })).status).toBe(401);
    link = own;
    expect((await read({ cookie })).status).toBe(200);
    const { token } = await must(app, 'POST', `/documents/${link.id}/share-token`, {
      as: ada.key,
      body: { replace: true },
    });
    const replaced = `/embed/${link.slug}/${token}`;
    expect((await app.request('GET', replaced, { headers: { cookie } })).status).toBe(401);
    expect((await app.request('GET', replaced, { headers: { authorization: basic(password) } })).status).toBe(
      200,
    );
  });

  test('ends after 12 hours', async () => {
    const cookie = getCookie(await submit(password));
    offsetMs = 12 * hourMs - 60_000;
    expect((await read({ cookie })).status).toBe(200);
    offsetMs = 12 * hourMs;
    expect((await read({ cookie })).status).toBe(401);
  });

  test('and a remembered password end with a change of the password', async () => {
    const cookie = getCookie(await submit(password));
    expect((await readWith(password)).status).toBe(200);
    await set({ password: 'another password' });
    expect([(await read({ cookie })).status, (await readWith(password)).status]).toEqual([401, 401]);
    // the same words again are a new password
    await set({ password });
    expect([(await read({ cookie })).status, (await readWith(password)).status]).toEqual([401, 200]);
  });

  test('is valid on every replica and after a restart', async () => {
    const cookie = getCookie(await submit(password));
    const replica = await app.replica();
    expect((await replica.request('GET', link.path, { headers: { cookie } })).status).toBe(200);
    await app.restart();
    expect((await read({ cookie })).status).toBe(200);
  });

  test('is enough beside a wrong password', async () => {
    const cookie = getCookie(await submit(password));
    expect((await readWith('wrong password', { cookie })).status).toBe(200);
  });
});

describe('wrong passwords', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const guess = (at: number, address: string) => readWith(`guess number ${at}`, from(address));

  test('are limited for a link and an address, in programs and forms together', async () => {
    for (let at = 0; at < 5; at += 1) {
      expect((await guess(at, '192.0.2.1')).status).toBe(401);
      expect((await submit(`guess of a form ${at}`, from('192.0.2.1'))).status).toBe(401);
    }
    const limited = await readWith(password, from('192.0.2.1'));
    expect([limited.status, limited.body.code]).toEqual([429, 'too_many_requests']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(getHeaders(limited, 'ratelimit-policy', 'cache-control')).toEqual([
      '"link-passwords-of-address";q=10;w=900',
      'private, no-cache',
    ]);
    const page = await submit(password, { ...from('192.0.2.1'), ...browser });
    expect([page.status, toText(page).includes('Too many wrong passwords')]).toEqual([429, true]);
    expect(getHeaders(page, 'cache-control', 'vary')).toEqual([
      'private, no-cache',
      'Accept, Authorization, Cookie',
    ]);
    // another address, and requests without a password
    expect((await readWith(password, from('192.0.2.2'))).status).toBe(200);
    expect((await read(from('192.0.2.1'))).status).toBe(401);
    offsetMs = 15 * 60_000;
    expect((await readWith(password, from('192.0.2.1'))).status).toBe(200);
  });

  test('that arrive at the same time do not exceed the limit', async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, (_, at) => guess(at, '192.0.2.3')));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(30).fill(429)]);
  });

  test('are limited for a link, but not for readers who are known', async () => {
    const cookie = getCookie(await submit(password));
    expect((await readWith(password)).status).toBe(200);
    for (let at = 0; at < 100; at += 1) expect((await guess(at, `192.0.2.${at}`)).status).toBe(401);
    const limited = await readWith('another guess', from('198.51.100.1'));
    expect([limited.status, ...getHeaders(limited, 'ratelimit-policy')]).toEqual([
      429,
      '"link-passwords";q=100;w=3600',
    ]);
    expect((await submit(password, from('198.51.100.1'))).status).toBe(303);
    expect((await read({ cookie })).status).toBe(200);
    offsetMs = 61_000;
    expect((await submit(password, from('198.51.100.1'))).status).toBe(429);
    expect((await read({ cookie })).status).toBe(200);
  });

  test('are counted in a metric', async () => {
    const getCounts = () =>
      Promise.all(
        ['right', 'wrong', 'limited'].map((result) =>
          readMetric(app.management, 'link_password_checks_total', { result }),
        ),
      );
    const [right = 0, wrong = 0, limited = 0] = await getCounts();
    await readWith(password, from('192.0.2.9'));
    for (let at = 0; at < 11; at += 1) await guess(at, '192.0.2.9');
    expect(await getCounts()).toEqual([right + 1, wrong + 10, limited + 1]);
  });
});

describe('the controls of a link', () => {
  type Controls = { expires_at: string | null; allowed_origins: string[] | null; password: string | null };
  const none: Controls = { expires_at: null, allowed_origins: null, password: null };
  const other = (): Controls => ({
    expires_at: new Date(now().getTime() + hourMs).toISOString(),
    allowed_origins: ['https://intranet.example'],
    password: 'another password',
  });
  const toShown = ({ password: secret, ...shown }: Controls) => ({ ...shown, has_password: secret !== null });

  test('change each by itself, from every state', async () => {
    const names = ['expires_at', 'allowed_origins', 'password'] as const;
    for (let state = 0; state < 8; state += 1) {
      const all = other();
      const isSet = Object.fromEntries(names.map((name, bit) => [name, ((state >> bit) & 1) === 1]));
      const before = Object.fromEntries(
        names.map((name) => [name, isSet[name] ? all[name] : null]),
      ) as unknown as Controls;
      for (const name of names) {
        for (const value of [none[name], other()[name]]) {
          await set(before);
          const after = await set({ [name]: value });
          expect(after).toMatchObject(toShown({ ...before, [name]: value }));
          const secret = name === 'password' ? value : before.password;
          expect((await read()).status).toBe(secret === null ? 200 : 401);
          if (typeof secret === 'string') expect((await readWith(secret)).status).toBe(200);
        }
      }
    }
  });

  test('include the password: replacing the token keeps it, deleting ends it', async () => {
    const path = `/documents/${link.id}/share-token`;
    const replaced = await must(app, 'POST', path, { as: ada.key, body: { replace: true } });
    expect(replaced.has_password).toBe(true);
    await app.request('DELETE', path, { as: ada.key });
    expect((await must(app, 'POST', path, { as: ada.key })).has_password).toBe(false);
  });
});
