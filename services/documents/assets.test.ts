/** Tests of the upload and download of pictures, and of the nodes that name them. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

const folder = new URL('../../tests/fixtures/pictures/', import.meta.url);
const read = async (name: string) => new Uint8Array(await readFile(new URL(name, folder)));

let context: TestContext;
let ada: TestMember;
let bo: TestMember;
beforeAll(async () => {
  context = await testContext([identity, documents]);
  ada = await context.admin();
  bo = await context.admin();
});
afterAll(() => context?.app.stop());

function upload({ as }: TestMember, bytes: Uint8Array, type = 'image/png', headers = {}) {
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(bytes)], { type }), 'picture');
  return context.app.request('POST', '/assets', { as, body: form, headers });
}

const download = ({ as }: TestMember, id: string, headers = {}) =>
  context.app.request('GET', `/assets/${id}`, { as, headers });

const image = (src: string) => ({ type: 'image', attrs: { src, alt: 'A valve' } });
const content = (...images: object[]) => ({ type: 'doc', content: images });

describe('createAsset', () => {
  test('stores a picture without metadata, and getAsset returns it', async () => {
    const { status, body, headers } = await upload(ada, await read('orientation-6.jpg'));
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      src: `asset:${body.id}`,
      media_type: 'image/jpeg',
      width: 16,
      height: 24,
      size_bytes: expect.any(Number),
      created_at: expect.any(String),
    });
    expect(headers.get('location')).toBe(`/api/v1/assets/${body.id}`);
    const found = await download(ada, body.id);
    expect(found.status).toBe(200);
    expect(found.headers.get('content-type')).toBe('image/jpeg');
    expect(found.headers.get('etag')).toBe(`"${body.id}"`);
    expect(found.headers.get('content-disposition')).toBe(`inline; filename="${body.id.slice(0, 12)}.jpg"`);
    expect(found.headers.get('x-content-type-options')).toBe('nosniff');
    expect(found.headers.get('content-length')).toBe(String(body.size_bytes));
    expect((await download(ada, body.id, { 'if-none-match': `"${body.id}"` })).status).toBe(304);
  });

  test('returns the same asset for the same picture with other metadata', async () => {
    const bytes = await read('plain.gif');
    const first = await upload(ada, bytes);
    const others = await Promise.all([
      upload(ada, Buffer.concat([bytes, Buffer.from('more')])),
      upload(ada, bytes, 'text/html'),
    ]);
    for (const { status, body } of others) expect([status, body]).toEqual([201, first.body]);
    const rows = context.app.db.collection('assets').find({ asset_id: first.body.id });
    expect(await rows.toArray()).toHaveLength(1);
  });

  test('two uploads of a new picture at once store one row', async () => {
    const bytes = await read('animated.png');
    const found = await Promise.all([1, 2, 3, 4].map(() => upload(bo, bytes)));
    expect(new Set(found.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const asset_id = found[0]?.body.id;
    for (const name of ['assets', 'asset_files'])
      expect(await context.app.db.collection(name).countDocuments({ asset_id })).toBe(1);
  });

  test.each([
    ['unsupported_type', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['unsupported_type', Buffer.alloc(0)],
    ['truncated', Buffer.from('GIF89a')],
    ['too_many_pixels', Buffer.from('GIF89a\x60\xea\x60\xea\0\0\0', 'latin1')],
    ['malformed', Buffer.from('\xff\xd8\xff\xd9', 'latin1')],
  ])('rejects a file with the reason %s', async (reason, bytes) => {
    const { status, body } = await upload(ada, bytes);
    expect([status, body.code, body.reason]).toEqual([400, 'asset_invalid', reason]);
  });

  test('rejects a file of more than 10 MiB', async () => {
    const bytes = Buffer.concat([await read('plain.jpg'), Buffer.alloc(10 * 2 ** 20)]);
    expect((await upload(ada, bytes)).status).toBe(413);
    const missing = await context.app.request('POST', '/assets', { as: ada.as, body: new FormData() });
    expect([missing.status, missing.body.code]).toEqual([400, 'invalid_request']);
  });

  test('replays the response for an idempotency key', async () => {
    const headers = { 'idempotency-key': newId() };
    const first = await upload(ada, await read('rgba.png'), 'image/png', headers);
    const again = await upload(ada, await read('rgba.png'), 'image/png', headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    const other = await upload(ada, await read('rgb.png'), 'image/png', headers);
    expect([other.status, other.body.code]).toEqual([400, 'idempotency_key_reused']);
  });
});

describe('getAsset', () => {
  test('returns 404 for unknown and malformed ids, and for other organizations', async () => {
    const { id } = (await upload(ada, await read('grey.png'))).body;
    for (const unknown of ['0'.repeat(64), id.toUpperCase(), newId(), 'x'])
      expect((await download(ada, unknown)).status).toBe(404);
    for (const headers of [{}, { 'if-none-match': `"${id}"` }])
      expect((await download(bo, id, headers)).status).toBe(404);
    expect((await context.app.request('GET', `/assets/${id}`)).status).toBe(401);
  });
});

describe('a node', () => {
  test('shows the address as it was sent, and stores the ids of its assets', async () => {
    const { id, src } = (await upload(ada, await read('grey-alpha.png'))).body;
    const [one, other] = [content(image(src), image(src)), content(image('https://example.com/a.png'))];
    const step = { node_type: 'step', title: 'Step', content: one };
    const nodes = [{ node_type: 'section', title: 'One', content: other, children: [step] }];
    const document = await context.create(ada, { title: 'Pictures', nodes });
    const child = document.nodes[0].children[0];
    expect(child.content).toEqual(one);
    expect(document.warnings).toHaveLength(1);
    const rows = context.app.db.collection<{ _id: string; asset_ids?: string[] }>('nodes');
    const findIds = async () => (await rows.findOne({ _id: child.id }))?.asset_ids;
    expect(await findIds()).toEqual([id]);
    const path = `${document.id}/nodes/${child.id}`;
    await context.request(ada, 'PATCH', path, { title: 'Renamed' });
    expect(await findIds()).toEqual([id]);
    await context.request(ada, 'PATCH', path, { content: other });
    expect(await rows.countDocuments({ _id: child.id, asset_ids: { $exists: true } })).toBe(0);
    const changed = await context.request(ada, 'PATCH', path, { content: one });
    expect([changed.status, await findIds()]).toEqual([200, [id]]);
    expect((await context.request(ada, 'PATCH', path, { content: null })).status).toBe(200);
    expect(await findIds()).toBeUndefined();
  });

  test('that names unknown assets is rejected with each path', async () => {
    const { id, src } = (await upload(bo, await read('progressive.jpg'))).body;
    const own = (await upload(ada, await read('bits.png'))).body;
    const wrong = [src, `asset:${own.id.toUpperCase()}`, `asset:${newId()}`, 'asset:'].map(image);
    const nodes = [{ node_type: 'section', title: 'One', content: content(image(own.src), ...wrong) }];
    const created = await context.app.request('POST', '/documents', {
      as: ada.as,
      body: { title: 'Unknown', nodes },
    });
    expect([created.status, created.body.code]).toEqual([400, 'unknown_assets']);
    const paths = [1, 2, 3, 4].map((at) => `body/nodes/0/content/content/${at}/attrs/src`);
    expect(created.body.errors.map(({ path }: { path: string }) => path)).toEqual(paths);
    const empty = [{ node_type: 'section', title: 'One' }];
    const document = await context.create(ada, { title: 'Known', nodes: empty });
    const replaced = await context.request(ada, 'PUT', `${document.id}/nodes`, { nodes });
    expect(replaced.body.errors).toHaveLength(4);
    const body = { content: content(image(`asset:${id}`)) };
    const changed = await context.request(ada, 'PATCH', `${document.id}/nodes/${document.nodes[0].id}`, body);
    expect(changed.body).toMatchObject({
      code: 'unknown_assets',
      errors: [{ path: 'body/content/content/0/attrs/src' }],
    });
    expect((await context.request(ada, 'GET', document.id)).body.nodes[0].content).toBeNull();
  });
});
