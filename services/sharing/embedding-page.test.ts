/** Tests of both representations over HTTP with a real MongoDB: negotiation, headers, ETags, notice pages. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Person,
  register,
  shareDocument,
  type TestApp,
  type TestResponse,
  testApp,
} from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { sharing } from './service.ts';

const chrome =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

let app: TestApp;
let ada: Person;
let token: string;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  app = await testApp({ services, contracts: services.map(({ contract }) => contract) });
  ada = await register(app);
  token = await share(ada, {
    title: 'Opening the vault & <closing> it',
    version: '2.1',
    department: 'Vault',
  });
});
afterAll(() => app?.stop());

const share = async (person: Person, body: object) => (await shareDocument(app, person.key, body)).token;

const embed = (path: string, headers: Record<string, string> = {}, slug = ada.slug) =>
  app.request('GET', `/embed/${slug}/${path}`, { headers });
const page = (path = token, headers: Record<string, string> = {}, slug = ada.slug) =>
  embed(path, { accept: chrome, ...headers }, slug);
const toText = ({ bytes }: TestResponse) => Buffer.from(bytes).toString();
const isPage = (response: TestResponse) =>
  response.headers.get('content-type') === 'text/html; charset=utf-8';
const getEtag = (response: TestResponse) => response.headers.get('etag') ?? '';
const updateOrganization = (person: Person, body: object) =>
  app.request('PATCH', '/organization', { as: person.token, body });

describe('the representation of a public link', () => {
  test.each([
    [chrome, true],
    ['text/html', true],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/html;q=0.9', false],
    ['image/png', false],
  ])('for Accept %j is the HTML page: %j', async (accept, isHtml) => {
    const response = await embed(token, { accept });
    expect([response.status, isPage(response), response.headers.get('vary')]).toEqual([
      200,
      isHtml,
      'Accept',
    ]);
  });

  test('follows ?format= rather than Accept', async () => {
    expect(isPage(await embed(`${token}?format=html`))).toBe(true);
    expect((await page(`${token}?format=json`)).body.title).toBe('Opening the vault & <closing> it');
    for (const format of ['xml', '', 'html&format=json'])
      expect((await embed(`${token}?format=${format}`)).status).toBe(400);
  });

  test('has its own ETag, which gives 304', async () => {
    const [json, html] = [await embed(token), await page()];
    expect(getEtag(html)).toMatch(/^"[\w-]+"$/);
    expect(getEtag(html)).not.toBe(getEtag(json));
    const again = await page(token, { 'if-none-match': getEtag(html) });
    expect([again.status, again.bytes.length, getEtag(again)]).toEqual([304, 0, getEtag(html)]);
    expect(again.headers.get('content-security-policy')).toBe(html.headers.get('content-security-policy'));
    expect((await page(token, { 'if-none-match': getEtag(json) })).status).toBe(200);
  });

  test('has the same bytes after a restart', async () => {
    const before = await page();
    await app.restart();
    const after = await page();
    expect([getEtag(after), toText(after)]).toEqual([getEtag(before), toText(before)]);
  });

  test('responds to HEAD with headers only', async () => {
    const response = await app.request('HEAD', `/embed/${ada.slug}/${token}`, {
      headers: { accept: chrome },
    });
    expect([response.status, response.bytes.length, isPage(response)]).toEqual([200, 0, true]);
  });
});

describe('the HTML page of a public link', () => {
  test('names document and organization in text, metadata and title', async () => {
    const bob = await register(app);
    await updateOrganization(bob, { name: 'Bank of "Bob" & Sons' });
    const { id, token: link } = await shareDocument(app, bob.key, { title: 'A & B', version: '7' });
    const { published_at } = (await app.request('GET', `/documents/${id}`, { as: bob.key })).body;
    const html = toText(await page(link, {}, bob.slug));
    for (const expected of [
      '<title>A &amp; B · Version 7 · Bank of &quot;Bob&quot; &amp; Sons</title>',
      '<meta property="og:title" content="A &amp; B"/>',
      '<meta property="og:site_name" content="Bank of &quot;Bob&quot; &amp; Sons"/>',
      '<h1>A &amp; B</h1>',
      '<dt>Version</dt><dd>7</dd>',
      `<time datetime="${published_at.slice(0, 10)}`,
    ])
      expect(html).toContain(expected);
    expect(html).not.toContain('Department');
  });

  test('is in the language of the document, else of the organization', async () => {
    const bob = await register(app);
    const { id, token: link } = await shareDocument(app, bob.key, { title: 'Tresor', version: '7' });
    const read = async () => toText(await page(link, {}, bob.slug));
    expect(await read()).toContain('<html lang="en" dir="ltr">');
    await updateOrganization(bob, { settings: { language: 'de-ch' } });
    const german = await read();
    expect(german).toContain('<html lang="de-CH" dir="ltr">');
    expect(german).toContain('<dt>Veröffentlicht</dt>');
    await app.request('PATCH', `/documents/${id}`, { as: bob.key, body: { language: 'he' } });
    const hebrew = await read();
    expect(hebrew).toContain('<html lang="he" dir="rtl">');
    expect(hebrew).toContain('<dt lang="en" dir="ltr">Published</dt>');
  });

  test('contains no user id, organization id, email or token', async () => {
    const html = toText(await page());
    for (const secret of [ada.userId, ada.organizationId, ada.email, token])
      expect(html).not.toContain(secret);
  });

  test('shows changes of document and organization with the next request', async () => {
    const bob = await register(app);
    const { id, token: link } = await shareDocument(app, bob.key, { title: 'Renamed' });
    const tags = [getEtag(await page(link, {}, bob.slug))];
    const node = { node_type: 'section', title: 'New section', order: 1 };
    await app.request('POST', `/documents/${id}/nodes`, { as: bob.key, body: node });
    await updateOrganization(bob, { name: 'New name' });
    const after = await page(link, { 'if-none-match': tags[0] ?? '' }, bob.slug);
    expect(toText(after)).toContain('<title>Renamed · New name</title>');
    expect(toText(after)).toContain('<span>New section</span></h2>');
    await updateOrganization(bob, { settings: { embed_origins: ['https://intranet.example'] } });
    tags.push(getEtag(after), getEtag(await page(link, {}, bob.slug)));
    expect(new Set(tags).size).toBe(3);
  });

  test('has a policy that allows framing only by the configured origins', async () => {
    const bob = await register(app);
    const link = await share(bob, { title: 'Framed' });
    const getPolicy = async () => (await page(link, {}, bob.slug)).headers.get('content-security-policy');
    const policy = (ancestors: string) =>
      new RegExp(
        `^default-src 'none'; style-src( 'sha256-[A-Za-z0-9+/]{43}='){2}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}$`,
      );
    expect(await getPolicy()).toMatch(policy('\\*'));
    await updateOrganization(bob, {
      settings: { embed_origins: ['https://intranet.example', 'http://wiki.example:81'] },
    });
    expect(await getPolicy()).toMatch(policy('https://intranet.example http://wiki.example:81'));
    await updateOrganization(bob, { settings: { embed_origins: [] } });
    expect(await getPolicy()).toMatch(policy("'none'"));
  });

  test('has the public headers and no X-Frame-Options', async () => {
    const { headers } = await page();
    const headerNames = [
      'cache-control',
      'referrer-policy',
      'x-robots-tag',
      'access-control-allow-origin',
      'vary',
    ];
    expect(headerNames.map((name) => headers.get(name))).toEqual([
      'no-cache',
      'no-referrer',
      'noindex',
      '*',
      'Accept',
    ]);
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBeNull();
  });
});

describe('the notice page of a public link', () => {
  test('is the same for every cause except for the request id', async () => {
    const eve = await register(app);
    const causes = await Promise.all([
      page('x'.repeat(43)),
      page('nonsense'),
      page('%00%F0%9F%94%91'),
      page('a'.repeat(5_000)),
      page(token, {}, 'no-such-organization'),
      page(token, {}, eve.slug),
      page(token, {}, ada.slug.toUpperCase()),
    ]);
    const withoutId = (response: TestResponse) => {
      const id = response.headers.get('x-request-id') ?? '';
      const headers = [...response.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
      return JSON.stringify([response.status, headers, toText(response).replace(id, '<id>')]);
    };
    expect(new Set(causes.map(withoutId)).size).toBe(1);
    const [response] = causes;
    expect([response?.status, response && isPage(response)]).toEqual([404, true]);
    expect(response?.bytes.length).toBeLessThan(4_000);
    expect(response?.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    );
    expect(response && toText(response)).toContain(`Request ${response?.headers.get('x-request-id')}`);
  });

  test('shows a valid request id and rejects markup as an id', async () => {
    expect(toText(await page('nothing', { 'x-request-id': 'mine-1' }))).toContain('Request mine-1');
    expect(toText(await page('nothing', { 'x-request-id': '<script>' }))).not.toContain('script');
  });

  test('follows ?format=', async () => {
    expect((await page('nothing?format=json')).body.code).toBe('not_found');
    expect(isPage(await embed('nothing?format=html'))).toBe(true);
    expect(isPage(await page('nothing?format=xml'))).toBe(true);
  });
});
