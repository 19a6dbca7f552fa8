/** Tests the limit of the size of all assets of an organization, with two replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type HttpClient, readMetric } from '#libs/testing';
import { identity } from '../testing/services.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A picture of one pixel, of one of 256 colors. All have the same size. */
function picture(color: number): Buffer {
  const bytes = Buffer.from(pixel);
  bytes[13] = color;
  return bytes;
}

/** Space for two and a half pictures. */
const limit = Math.floor(pixel.byteLength * 2.5);

let context: TestContext;
let replica: HttpClient;

beforeAll(async () => {
  context = await testContext([identity, documents], {
    DEFAULT_PLAN: 'trial',
    STORAGE_LIMITS_TRIAL: `asset_bytes=${limit}`,
  });
  replica = await context.app.replica();
});
afterAll(() => context?.app.stop());

function send(path: string, { as }: TestMember, file: Blob, name: string, client: HttpClient = context.app) {
  const body = new FormData();
  body.append('file', file, name);
  return client.request('POST', path, { as, body, headers: { 'idempotency-key': newId() } });
}

const upload = (member: TestMember, color: number, client?: HttpClient) =>
  send('/assets', member, new Blob([Buffer.from(picture(color))]), 'picture.gif', client);

/** Sends a Markdown file with pictures of these colors. */
function sendFile(path: string, member: TestMember, colors: readonly number[]) {
  const images = colors.map((color) => `![A](data:image/gif;base64,${picture(color).toString('base64')})`);
  return send(path, member, new Blob([`# Title\n\n## Part\n\n${images.join('\n\n')}\n`]), 'pictures.md');
}

async function readUse({ as }: TestMember) {
  const { body } = await context.app.request('GET', '/organization/subscription', { as });
  return body.storage.asset_bytes;
}

test('concurrent uploads of different pictures stay within the limit', async () => {
  const ada = await context.admin();
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, at) => upload(ada, at, at % 2 ? context.app : replica)),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 402, 402, 402, 402]);
  const used = 2 * pixel.byteLength;
  expect(responses.find(({ status }) => status === 402)?.body).toMatchObject({
    ...{ code: 'storage_quota_exhausted', storage_limit: 'asset_bytes', limit, used },
    detail: expect.stringContaining('Remove pictures from documents, or ask the operator for a larger plan.'),
  });
  expect(await readUse(ada)).toEqual({ used, limit });
  const labels = { service: 'documents', limit: 'asset_bytes' };
  expect(await readMetric(context.app.management, 'quota_rejections_total', labels)).toBeGreaterThan(0);
});

test('a picture counts once, and an upload of it succeeds at the limit', async () => {
  const ada = await context.admin();
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, at) => upload(ada, 1, at % 2 ? context.app : replica)),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(201));
  expect((await upload(ada, 2)).status).toBe(201);
  expect((await upload(ada, 3)).status).toBe(402);
  expect((await upload(ada, 1)).status).toBe(201);
  expect(await readUse(ada)).toEqual({ used: 2 * pixel.byteLength, limit });
});

test('a deleted asset frees its bytes, and each organization has its own', async () => {
  const [ada, bo] = [await context.admin(), await context.admin()];
  for (const color of [1, 2]) expect((await upload(ada, color)).status).toBe(201);
  expect((await upload(bo, 1)).status).toBe(201);
  expect((await upload(ada, 3)).status).toBe(402);
  const organization = (await context.app.request('GET', '/organization', { as: ada.as })).body.id;
  // as the worker does after 24 hours
  await context.app.db.collection('assets').deleteOne({ organization_id: organization });
  expect((await upload(ada, 3)).status).toBe(201);
});

test('an import or preview with pictures beyond the limit fails with 402', async () => {
  const ada = await context.admin();
  expect((await sendFile('/imports', ada, [1, 2])).status).toBe(201);
  for (const path of ['/imports', '/imports/preview']) {
    const { status, body } = await sendFile(path, ada, [1, 3]);
    expect([path, status, body.storage_limit]).toEqual([path, 402, 'asset_bytes']);
  }
  expect((await context.app.request('GET', '/documents', { as: ada.as })).body).toHaveLength(1);
  expect((await sendFile('/imports', ada, [2, 1])).status).toBe(201);
  expect(await readUse(ada)).toEqual({ used: 2 * pixel.byteLength, limit });
});
