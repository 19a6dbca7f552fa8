/**
 * Compares public links with a small model: every combination of expiry, password, allowed origins and state of the
 * document, read under two slugs with every kind of credentials, also for its pictures. It needs a real MongoDB.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must, type Person, register, shareDocument, type TestApp, testApp } from '#libs/testing';
import { encodePng } from '../../tests/fixtures/generators/png.ts';
import { documents } from '../documents/service.ts';
import { identity, sharing } from '../testing/services.ts';

const expiries = ['none', 'later', 'over'] as const;
const passwords = ['none', 'set'] as const;
const origins = ['organization', 'own', 'nobody'] as const;
const states = ['published', 'revised', 'archived'] as const;
const slugs = ['own', 'other'] as const;
const credentials = [
  ...['nothing', 'right password', 'wrong password', 'malformed', 'API key'],
  ...['cookie', 'cookie of another link', 'forged cookie', 'outdated cookie', 'cookie of a former password'],
] as const;

/** How a link was made. */
interface Link {
  expiry: (typeof expiries)[number];
  password: (typeof passwords)[number];
  origins: (typeof origins)[number];
  state: (typeof states)[number];
}

const hourMs = 3_600_000;
const password = 'the right password';
const basic = (text: string) => `Basic ${Buffer.from(`reader:${text}`).toString('base64')}`;

let app: TestApp;
let ada: Person;
let eve: Person;
let offsetMs = 0;
/** The ids of a picture that each document shows, and of one that none shows. */
let shown: string;
let hidden: string;

beforeAll(async () => {
  const services = [identity, documents, sharing];
  const now = () => new Date(Date.now() + offsetMs);
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), now });
  [ada, eve] = await Promise.all([register(app), register(app)]);
  [shown, hidden] = [await upload(0), await upload(255)];
  const settings = { embed_origins: ['https://wiki.example'] };
  await must(app, 'PATCH', '/organization', { as: ada.token, body: { settings } });
});
afterAll(() => app?.stop());

async function upload(color: number): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(encodePng(1, 1, () => [color, 0, 0, 255]))]), 'a.png');
  return (await must(app, 'POST', '/assets', { as: ada.key, body: form })).id;
}

/** What a request for a link has to get. */
function predict(link: Link, slug: string, credential: string) {
  if (slug !== 'own' || link.state === 'archived' || link.expiry === 'over') return { status: 404 };
  const opens = ['right password', 'cookie'].includes(credential);
  const frames = { organization: 'https://wiki.example', own: 'https://own.example', nobody: "'none'" };
  return { status: link.password === 'set' && !opens ? 401 : 200, frames: frames[link.origins] };
}

/** Creates a link and the cookies for it, at a time when it works. */
async function createLink({ expiry, password: isSet, origins: allowed, state }: Link) {
  const image = { type: 'image', attrs: { src: `asset:${shown}` } };
  const nodes = [{ node_type: 'section', title: 'One', content: { type: 'doc', content: [image] } }];
  const { id, token, path } = await shareDocument(app, ada.key, { title: 'Link', nodes });
  const change = (body: object) =>
    must(app, 'PATCH', `/documents/${id}/share-token`, { as: ada.key, body, status: 200 });
  const getCookie = async (text: string) => {
    const response = await app.request('POST', path, { body: new URLSearchParams({ password: text }) });
    return response.headers.get('set-cookie')?.split(';')[0] ?? 'pds_link=none';
  };
  const cookies: Record<string, string> = {};
  if (isSet === 'set') {
    await change({ password: 'the former password' });
    cookies['cookie of a former password'] = await getCookie('the former password');
    await change({ password });
    offsetMs = -12 * hourMs;
    cookies['outdated cookie'] = await getCookie(password);
    offsetMs = 0;
    cookies.cookie = await getCookie(password);
    cookies['forged cookie'] = cookies.cookie.replace(/.{5}$/, 'AAAAA');
  }
  if (allowed !== 'organization')
    await change({ allowed_origins: allowed === 'own' ? ['https://own.example'] : [] });
  const hours = { none: undefined, later: 3, over: 1 }[expiry];
  if (hours) await change({ expires_at: new Date(Date.now() + hours * hourMs).toISOString() });
  const as = ada.key;
  if (state === 'archived') await must(app, 'POST', `/documents/${id}/archive`, { as });
  if (state === 'revised') {
    const revision = await must(app, 'POST', `/documents/${id}/revise`, { as });
    await must(app, 'POST', `/documents/${revision.id}/publish`, { as });
  }
  return { token, cookies };
}

function toHeaders(credential: string, cookies: Record<string, string>): Record<string, string> {
  const cookie = cookies[credential];
  if (cookie) return { cookie };
  const headers: Record<string, Record<string, string>> = {
    'right password': { authorization: basic(password) },
    'wrong password': { authorization: basic('the wrong password') },
    malformed: { authorization: 'Basic %' },
    'API key': { authorization: `Bearer ${ada.key}` },
  };
  return headers[credential] ?? {};
}

/** Reads a link as JSON, with `If-None-Match`, and as a page; then both pictures, and the first one conditionally. */
async function readAll(path: string, headers: Record<string, string>) {
  const [json, conditional, page, ...pictures] = await Promise.all([
    app.request('GET', path, { headers }),
    app.request('GET', path, { headers: { ...headers, 'if-none-match': '*' } }),
    app.request('GET', `${path}?format=html`, { headers }),
    app.request('GET', `${path}/assets/${shown}`, { headers }),
    app.request('GET', `${path}/assets/${shown}`, { headers: { ...headers, 'if-none-match': '*' } }),
    app.request('GET', `${path}/assets/${hidden}`, { headers }),
  ]);
  const policy = page.headers.get('content-security-policy') ?? '';
  return {
    statuses: [json, conditional, page].map(({ status }) => status),
    tags: [json, conditional, page].map(({ headers: sent }) => sent.has('etag')),
    pictures: pictures.map(({ status }) => status),
    cacheControl: [json, ...pictures].map(({ headers: sent }) => sent.get('cache-control')),
    frames: /frame-ancestors (.*)$/.exec(policy)?.[1],
    hasForm: policy.includes("form-action 'self'"),
  };
}

test('every link gives what the model says, to every kind of caller', async () => {
  const links = expiries.flatMap((expiry) =>
    passwords.flatMap((isSet) =>
      origins.flatMap((allowed) =>
        states.map((state): Link => ({ expiry, password: isSet, origins: allowed, state })),
      ),
    ),
  );
  const created = [];
  for (const link of links) created.push({ link, ...(await createLink(link)) });
  const others = created.find(({ link }) => link.password === 'set' && link.state === 'published')?.cookies;
  offsetMs = 2 * hourMs;
  let requests = 0;
  const wrong: object[] = [];
  for (const { link, token, cookies } of created) {
    // the cookie of this link itself would open it
    const isOther = others?.cookie !== cookies.cookie;
    const foreign = { ...cookies, ...(isOther && { 'cookie of another link': others?.cookie ?? '' }) };
    for (const slug of slugs)
      for (const credential of credentials) {
        const path = `/embed/${slug === 'own' ? ada.slug : eve.slug}/${token}`;
        const { status, frames } = predict(link, slug, credential);
        const isOpen = status === 200;
        const isProtected = status === 401 || (isOpen && link.password === 'set');
        const expected = {
          statuses: isOpen ? [200, 304, 200] : [status, status, status],
          tags: Array(3).fill(isOpen),
          pictures: isOpen ? [200, 304, 404] : [status, status, status],
          cacheControl: Array(4).fill(isProtected ? 'private, no-cache' : 'no-cache'),
          frames: frames ?? '*',
          hasForm: status === 401,
        };
        const actual = await readAll(path, toHeaders(credential, foreign));
        requests += 6;
        if (JSON.stringify(actual) !== JSON.stringify(expected))
          wrong.push({ ...link, slug, credential, expected, actual });
      }
  }
  expect(wrong).toEqual([]);
  expect(requests).toBe(54 * 2 * 10 * 6);
}, 300_000);
