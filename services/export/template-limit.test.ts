/** Tests the limit of the size of all templates of an organization, with two replicas. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type HttpClient, must, readMetric, register, type TestApp } from '#libs/testing';
import { exportTestApp } from './testing/test-app.ts';

const file = new Uint8Array(
  await readFile(new URL('../../tests/fixtures/corporate-template.docx', import.meta.url)),
);
/** Space for two and a half templates. */
const limit = Math.floor(file.byteLength * 2.5);

let app: TestApp;
let replica: HttpClient;

beforeAll(async () => {
  ({ app } = await exportTestApp({ STORAGE_LIMITS_SCALE: `template_bytes=${limit}` }));
  replica = await app.replica();
});
afterAll(() => app?.stop());

function upload(as: string, headers: Record<string, string> = {}, client: HttpClient = app) {
  const body = new FormData();
  body.append('name', 'Corporate');
  body.append('file', new Blob([file]), 'template.docx');
  return client.request('POST', '/templates', { as, body, headers });
}

test('concurrent uploads stay within the limit', async () => {
  const { key: as } = await register(app);
  const before = await app.db.collection('template_files.files').countDocuments();
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, at) => upload(as, {}, at % 2 ? app : replica)),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 402, 402, 402, 402]);
  const used = 2 * file.byteLength;
  expect(responses.find(({ status }) => status === 402)?.body).toMatchObject({
    ...{ code: 'storage_quota_exhausted', storage_limit: 'template_bytes', limit, used },
    detail: expect.stringContaining('Delete templates, or ask the operator for a larger plan.'),
  });
  const { storage } = await must(app, 'GET', '/organization/subscription', { as });
  expect(storage.template_bytes).toEqual({ used, limit });
  // rejected uploads leave no file behind
  expect(await app.db.collection('template_files.files').countDocuments()).toBe(before + 2);
  const labels = { service: 'export', limit: 'template_bytes' };
  expect(await readMetric(app.management, 'quota_rejections_total', labels)).toBeGreaterThan(0);
});

test('a deleted template frees its bytes, a repeated upload counts once', async () => {
  const { key: as } = await register(app);
  const headers = { 'idempotency-key': newId() };
  const { body } = await upload(as, headers);
  expect((await upload(as, headers)).body).toEqual(body);
  expect((await upload(as)).status).toBe(201);
  expect((await upload(as)).status).toBe(402);
  await must(app, 'DELETE', `/templates/${body.id}`, { as });
  expect((await upload(as)).status).toBe(201);
});
