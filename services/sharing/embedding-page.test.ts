/**
 * How a public link answers in its two forms, over HTTP with a real MongoDB: choice, headers, ETags, the
 * notice for every 404.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, type TestResponse, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { sharing } from './service.ts';

const chrome =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

let here: TestApp;
let ada: Person;
let token: string;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  here = await testApp({ services, contracts: services.map((one) => one.contract) });
  ada = await register(here);
  token = await shared(ada, {
    title: 'Opening the vault & <closing> it',
    version: '2.1',
    department: 'Vault',
  });
}, 60_000);
afterAll(() => here?.stop());

async function shared(person: Person, body: object): Promise<string> {
  const { id } = (await here.request('POST', '/documents', { as: person.key, body })).body;
  await here.request('POST', `/documents/${id}/publish`, { as: person.key });
  return (await here.request('POST', `/documents/${id}/share-token`, { as: person.key })).body.token;
}

const embed = (path: string, headers: Record<string, string> = {}, slug = ada.slug) =>
  here.request('GET', `/embed/${slug}/${path}`, { headers });
const page = (path = token, headers: Record<string, string> = {}, slug = ada.slug) =>
  embed(path, { accept: chrome, ...headers }, slug);
const textOf = ({ bytes }: TestResponse) => Buffer.from(bytes).toString();
const isPage = (told: TestResponse) => told.headers.get('content-type') === 'text/html; charset=utf-8';
const etagOf = (told: TestResponse) => told.headers.get('etag') ?? '';
const change = (person: Person, body: object) =>
  here.request('PATCH', '/organization', { as: person.token, body });

describe('the form', () => {
  test.each([
    [chrome, true],
    ['text/html', true],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/html;q=0.9', false],
    ['image/png', false],
  ])('for Accept %j is a page: %j', async (accept, forPeople) => {
    const told = await embed(token, { accept });
    expect([told.status, isPage(told), told.headers.get('vary')]).toEqual([200, forPeople, 'Accept']);
  });

  test('is what ?format= says, whatever Accept prefers', async () => {
    expect(isPage(await embed(`${token}?format=html`))).toBe(true);
    expect((await page(`${token}?format=json`)).body.title).toBe('Opening the vault & <closing> it');
    for (const format of ['xml', '', 'html&format=json'])
      expect((await embed(`${token}?format=${format}`)).status).toBe(400);
  });

  test('has an ETag of its own, and a 304 when the client has it', async () => {
    const [json, html] = [await embed(token), await page()];
    expect(etagOf(html)).toMatch(/^"[\w-]+"$/);
    expect(etagOf(html)).not.toBe(etagOf(json));
    const again = await page(token, { 'if-none-match': etagOf(html) });
    expect([again.status, again.bytes.length, etagOf(again)]).toEqual([304, 0, etagOf(html)]);
    expect(again.headers.get('content-security-policy')).toBe(html.headers.get('content-security-policy'));
    expect((await page(token, { 'if-none-match': etagOf(json) })).status).toBe(200);
  });

  test('has the same bytes after a restart', async () => {
    const before = await page();
    await here.restart();
    const after = await page();
    expect([etagOf(after), textOf(after)]).toEqual([etagOf(before), textOf(before)]);
  });

  test('answers HEAD with the headers alone', async () => {
    const told = await here.request('HEAD', `/embed/${ada.slug}/${token}`, { headers: { accept: chrome } });
    expect([told.status, told.bytes.length, isPage(told)]).toEqual([200, 0, true]);
  });
});

describe('the page', () => {
  test('says what it is, for readers, previews and the tab', async () => {
    const bob = await register(here);
    await change(bob, { name: 'Bank of "Bob" & Sons' });
    const html = textOf(await page(await shared(bob, { title: 'A & B', version: '7' }), {}, bob.slug));
    for (const told of [
      '<title>A &amp; B · Bank of &quot;Bob&quot; &amp; Sons</title>',
      '<meta property="og:title" content="A &amp; B"/>',
      '<meta property="og:site_name" content="Bank of &quot;Bob&quot; &amp; Sons"/>',
      '<h1>A &amp; B</h1>',
      '<dt>Version</dt><dd>7</dd>',
      `<time datetime="${new Date().toISOString().slice(0, 10)}`,
    ])
      expect(html).toContain(told);
    expect(html).not.toContain('Department');
  });

  test('shows no user, no organization id and no token', async () => {
    const html = textOf(await page());
    for (const secret of [ada.userId, ada.organizationId, ada.email, token])
      expect(html).not.toContain(secret);
  });

  test('shows a change of the document and of the name of its organization with the next request', async () => {
    const bob = await register(here);
    const body = { title: 'Renamed' };
    const { id } = (await here.request('POST', '/documents', { as: bob.key, body })).body;
    await here.request('POST', `/documents/${id}/publish`, { as: bob.key });
    const link = (await here.request('POST', `/documents/${id}/share-token`, { as: bob.key })).body.token;
    const tags = [etagOf(await page(link, {}, bob.slug))];
    const node = { node_type: 'section', title: 'New section', order: 1 };
    await here.request('POST', `/documents/${id}/nodes`, { as: bob.key, body: node });
    await change(bob, { name: 'New name' });
    const after = await page(link, { 'if-none-match': tags[0] ?? '' }, bob.slug);
    expect(textOf(after)).toContain('<title>Renamed · New name</title>');
    expect(textOf(after)).toContain('<span>New section</span></h2>');
    await change(bob, { settings: { embed_origins: ['https://intranet.example'] } });
    tags.push(etagOf(after), etagOf(await page(link, {}, bob.slug)));
    expect(new Set(tags).size).toBe(3);
  });

  test('may do nothing but show itself, and be framed by whom the organization names', async () => {
    const bob = await register(here);
    const link = await shared(bob, { title: 'Framed' });
    const policyOf = async () => (await page(link, {}, bob.slug)).headers.get('content-security-policy');
    const policy = (ancestors: string) =>
      new RegExp(
        `^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}$`,
      );
    expect(await policyOf()).toMatch(policy('\\*'));
    await change(bob, {
      settings: { embed_origins: ['https://intranet.example', 'http://wiki.example:81'] },
    });
    expect(await policyOf()).toMatch(policy('https://intranet.example http://wiki.example:81'));
    await change(bob, { settings: { embed_origins: [] } });
    expect(await policyOf()).toMatch(policy("'none'"));
  });

  test('comes with the headers of every public answer, and none that forbids framing as a whole', async () => {
    const { headers } = await page();
    const named = ['cache-control', 'referrer-policy', 'x-robots-tag', 'access-control-allow-origin', 'vary'];
    expect(named.map((name) => headers.get(name))).toEqual([
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

describe('the notice', () => {
  test('is one small page for every cause, the same but for the request id', async () => {
    const eve = await register(here);
    const causes = await Promise.all([
      page('x'.repeat(43)),
      page('nonsense'),
      page('%00%F0%9F%94%91'),
      page('a'.repeat(5_000)),
      page(token, {}, 'no-such-organization'),
      page(token, {}, eve.slug),
      page(token, {}, ada.slug.toUpperCase()),
    ]);
    const same = (told: TestResponse) => {
      const id = told.headers.get('x-request-id') ?? '';
      const headers = [...told.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
      return JSON.stringify([told.status, headers, textOf(told).replace(id, '<id>')]);
    };
    expect(new Set(causes.map(same)).size).toBe(1);
    const [told] = causes;
    expect([told?.status, told && isPage(told)]).toEqual([404, true]);
    expect(told?.bytes.length).toBeLessThan(4_000);
    expect(told?.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(told && textOf(told)).toContain(`Request ${told?.headers.get('x-request-id')}`);
  });

  test('a request id is shown as it is, and cannot be anything else', async () => {
    expect(textOf(await page('nothing', { 'x-request-id': 'mine-1' }))).toContain('Request mine-1');
    expect(textOf(await page('nothing', { 'x-request-id': '<script>' }))).not.toContain('script');
  });

  test('who forces a form gets the notice in that form', async () => {
    expect((await page('nothing?format=json')).body.code).toBe('not_found');
    expect(isPage(await embed('nothing?format=html'))).toBe(true);
    expect(isPage(await page('nothing?format=xml'))).toBe(true);
  });
});
