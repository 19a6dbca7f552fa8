/** Tests of the pictures of public links: their addresses, who gets them, and the policy of the page. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { renderCache } from '#libs/http';
import { type AnyJson, must, type Person, readMetric, register, type TestApp, testApp } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity, sharing } from '../testing/services.ts';
import { createAssetReader } from './link-assets.ts';

const appUrl = 'https://docs.example/a%20b';
const folder = new URL('../../tests/fixtures/pictures/', import.meta.url);

let app: TestApp;
let ada: Person;
let asset: AnyJson;
let other: AnyJson;
beforeAll(async () => {
  const services = [identity, documents, sharing];
  const environment = { APP_URL: appUrl, EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: '3' };
  app = await testApp({ services, contracts: services.map(({ contract }) => contract), environment });
  ada = await register(app);
  asset = await upload(ada, 'orientation-6.jpg');
  other = await upload(ada, 'plain.gif');
});
afterAll(() => app?.stop());

async function upload({ key: as }: Person, name: string): Promise<AnyJson> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await readFile(new URL(name, folder)))]), name);
  return must(app, 'POST', '/assets', { as, body: form });
}

const text = (value: string) => ({ type: 'paragraph', content: [{ type: 'text', text: value }] });
const image = (src: string, attrs = {}) => ({ type: 'image', attrs: { src, ...attrs } });
const section = (...content: object[]) => ({
  node_type: 'section',
  title: 'One',
  content: { type: 'doc', content },
});

/** Shares a document. Returns its id and its node, the path of its link, and the address of its pictures. */
async function share(person: Person, ...content: object[]) {
  const { key: as } = person;
  const body = { title: 'Pictures', nodes: [section(...content)] };
  const { id, nodes } = await must(app, 'POST', '/documents', { as, body });
  await must(app, 'POST', `/documents/${id}/publish`, { as });
  const { token } = await must(app, 'POST', `/documents/${id}/share-token`, { as });
  return { id, node: nodes[0].id, ...toLink(person, token) };
}

function toLink({ slug }: Person, token: string) {
  const path = `/embed/${slug}/${token}`;
  return { path, address: `${appUrl}${path}/assets/` };
}

const toText = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString();
const getPolicy = (response: { headers: Headers }) => response.headers.get('content-security-policy') ?? '';

describe('a document with pictures', () => {
  test('has absolute addresses in JSON, and everything else as it is stored', async () => {
    const { path, address, id } = await share(
      ada,
      image(asset.src, { alt: '"', width: 7 }),
      text(`asset:${asset.id} \u0001 ${asset.src}`),
      image('https://example.com/a.png'),
    );
    const { body, status } = await app.request('GET', path);
    expect(status).toBe(200);
    const [first, ...rest] = body.nodes[0].content.content;
    expect(first.attrs).toEqual({ src: `${address}${asset.id}`, alt: '"', width: 7 });
    const stored = await must(app, 'GET', `/documents/${id}`, { as: ada.key });
    expect(rest).toEqual(stored.nodes[0].content.content.slice(1));
    expect(stored.nodes[0].content.content[0].attrs.src).toBe(asset.src);
  });

  test('has images on its page, and the policy names their path', async () => {
    const { path, address } = await share(ada, image(asset.src, { alt: 'A <valve>' }), text(`"${asset.src}`));
    const page = await app.request('GET', `${path}?format=html`);
    expect(toText(page)).toContain(
      `<img src="${address}${asset.id}" alt="A &lt;valve&gt;" width="16" height="24"/>`,
    );
    expect(toText(page)).toContain(`&quot;${asset.src}`);
    expect(getPolicy(page)).toContain(`; img-src data: ${address}; `);
    const headers = { 'if-none-match': page.headers.get('etag') ?? '' };
    const again = await app.request('GET', `${path}?format=html`, { headers });
    expect([again.status, getPolicy(again)]).toEqual([304, getPolicy(page)]);
    // the replica has not rendered this version
    const replica = await app.replica();
    const cold = await replica.request('GET', `${path}?format=html`, { headers });
    expect([cold.status, getPolicy(cold)]).toEqual([304, getPolicy(page)]);
  });

  test('has the same ETag under another token, and the new address', async () => {
    const { id, path } = await share(ada, image(asset.src));
    const before = await Promise.all([path, `${path}?format=html`].map((one) => app.request('GET', one)));
    const body = { replace: true };
    const { token } = await must(app, 'POST', `/documents/${id}/share-token`, { as: ada.key, body });
    const now = toLink(ada, token);
    const after = await Promise.all(
      [now.path, `${now.path}?format=html`].map((one) => app.request('GET', one)),
    );
    for (const [at, response] of after.entries()) {
      expect(response.headers.get('etag')).toBe(before[at]?.headers.get('etag'));
      const written = toText(response);
      expect([written.includes(now.address), written.includes(path)]).toEqual([true, false]);
    }
  });

  test('without pictures has a policy that allows none but embedded ones', async () => {
    const { path } = await share(ada, text(asset.src));
    const page = await app.request('GET', `${path}?format=html`);
    expect(getPolicy(page)).toContain('; img-src data:; ');
  });
});

describe('a picture of a link', () => {
  test('is sent with its type, and 304 for its id', async () => {
    const { path } = await share(ada, image(asset.src));
    const own = `${path}/assets/${asset.id}`;
    const found = await app.request('GET', own);
    const stored = await app.request('GET', `/assets/${asset.id}`, { as: ada.key });
    expect(found.status).toBe(200);
    expect(Buffer.compare(found.bytes, stored.bytes)).toBe(0);
    const expected = {
      'content-type': 'image/jpeg',
      etag: `"${asset.id}"`,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'x-robots-tag': 'noindex',
    };
    for (const [name, value] of Object.entries(expected)) expect(found.headers.get(name)).toBe(value);
    const count = () => readMetric(app.management, 'embed_asset_responses_total', { result: 'not_modified' });
    const before = await count();
    const again = await app.request('GET', own, { headers: { 'if-none-match': `"${asset.id}"` } });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    // a cache would take over the headers of a 304
    for (const name of ['content-type', 'content-disposition']) expect(again.headers.get(name)).toBeNull();
    expect((await count()) - before).toBe(1);
  });

  test('is 404 unless the published version shows it', async () => {
    const eve = await register(app);
    const same = await upload(eve, 'plain.gif');
    expect(same.id).toBe(other.id);
    const link = await share(ada, image(asset.src));
    const get = async (id: string) => {
      const { status, body } = await app.request('GET', `${link.path}/assets/${id}`);
      return status === 200 ? 200 : [status, body.code];
    };
    const missing = [404, 'not_found'];
    for (const id of [other.id, '0'.repeat(64), asset.id.toUpperCase(), 'x', '%00'])
      expect(await get(id)).toEqual(missing);
    const foreign = await share(eve, image(same.src));
    expect((await app.request('GET', `${foreign.path}/assets/${asset.id}`)).status).toBe(404);
    expect((await app.request('GET', `${foreign.path}/assets/${same.id}`)).status).toBe(200);

    const as = ada.key;
    const { id: draft, nodes } = await must(app, 'POST', `/documents/${link.id}/revise`, { as });
    const replaced = { content: section(image(other.src)).content };
    await must(app, 'PATCH', `/documents/${draft}/nodes/${nodes[0].id}`, { as, body: replaced });
    expect([await get(asset.id), await get(other.id)]).toEqual([200, missing]);
    await must(app, 'POST', `/documents/${draft}/publish`, { as });
    expect([await get(asset.id), await get(other.id)]).toEqual([missing, 200]);
    const changed = { content: section(image(asset.src)).content };
    await must(app, 'PATCH', `/documents/${draft}/nodes/${nodes[0].id}`, { as, body: changed });
    expect([await get(asset.id), await get(other.id)]).toEqual([200, missing]);
  });

  test('is looked up only by an id that has the form of one', async () => {
    const lookups: (string | undefined)[] = [];
    const rows = {
      async referencesAsset(_: string, id?: string) {
        lookups.push(id);
        return false;
      },
      assetFile: async () => undefined,
    };
    const read = createAssetReader(rows, renderCache(2 ** 20), () => undefined);
    const document = { _id: 'one', organization_id: 'one', row_version: 1 };
    const ids = ['x', asset.id.toUpperCase(), `${asset.id}\n`, `${asset.id}0`, asset.id];
    for (const assetId of ids) {
      const request = { document, assetId, call: { hasCurrent: () => false }, headers: {}, isPrivate: false };
      expect(await read(request)).toBeUndefined();
    }
    expect(lookups).toEqual([asset.id]);
  });

  test('that is missing is not an unknown link', async () => {
    const { path } = await share(ada, image(asset.src));
    for (let count = 0; count < 5; count += 1)
      expect((await app.request('GET', `${path}/assets/${other.id}`)).status).toBe(404);
    expect((await app.request('GET', path)).status).toBe(200);
  });

  test('of a link with a password asks for it without a dialog of the browser', async () => {
    const { path, id } = await share(ada, image(asset.src));
    const body = { password: 'the right password' };
    await must(app, 'PATCH', `/documents/${id}/share-token`, { as: ada.key, body });
    const own = `${path}/assets/${asset.id}`;
    const rejected = await app.request('GET', own, { headers: { 'if-none-match': `"${asset.id}"` } });
    expect([rejected.status, rejected.body.code]).toEqual([401, 'share_password_required']);
    expect(rejected.headers.get('www-authenticate')).toBe('Cookie realm="public link"');
    const authorization = `Basic ${Buffer.from('reader:the right password').toString('base64')}`;
    const found = await app.request('GET', own, { headers: { authorization } });
    expect([found.status, found.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
  });
});
