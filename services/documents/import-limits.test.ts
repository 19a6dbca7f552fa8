/** Tests the limits of the import workers: queue, time and memory. A rejected import creates nothing. */
import { afterEach, expect, test } from '@jest/globals';
import { docx, p } from '../../tests/word/samples.ts';
import { identity } from '../identity/service.ts';
import { documents } from './service.ts';
import { type TestContext, type TestMember, testContext } from './testing/test-context.ts';

let context: TestContext;
let ada: TestMember;
const start = async (environment: Record<string, string>) => {
  context = await testContext([identity, documents], environment);
  ada = await context.admin();
};
afterEach(() => context?.app.stop());

/** A file whose conversion takes part of a second. */
const createLargeFile = () =>
  docx(Array.from({ length: 20_000 }, (_, at) => p(`Close valve ${at}.`)).join(''));

function upload(bytes: Uint8Array, name = 'sop.docx', as = ada.as) {
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(bytes)]), name);
  return context.app.request('POST', '/imports', { as, body: form });
}

const countDocuments = async () =>
  (await context.app.request('GET', '/documents/counts', { as: ada.as })).body.total;

test('an import gets 503 with Retry-After when the queue is full', async () => {
  await start({ IMPORT_MAX_QUEUE: '0' });
  const file = createLargeFile();
  const responses = await Promise.all([upload(file), upload(file), upload(file)]);
  const rejected = responses.filter(({ status }) => status === 503);
  expect(rejected).toHaveLength(2);
  for (const { headers } of rejected) expect(headers.get('retry-after')).toBe('5');
  expect(await countDocuments()).toBe(responses.filter(({ status }) => status === 201).length);
});

test('one organization does not fill the whole queue', async () => {
  await start({ IMPORT_WORKERS: '1', IMPORT_MAX_QUEUE: '4' });
  const bob = await context.admin();
  const file = createLargeFile();
  const uploads = Array.from({ length: 6 }, () => upload(file));
  const rejected = uploads.map(async (response) => {
    if ((await response).status !== 503) throw new Error('It was not rejected');
  });
  await Promise.any(rejected);
  expect((await upload(docx(p('Close the valve.')), 'sop.docx', bob.as)).status).toBe(201);
  const statuses = (await Promise.all(uploads)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(2);
});

test('an import gets 503 after the time limit and creates nothing', async () => {
  await start({ IMPORT_TIMEOUT_SECONDS: '1' });
  const file = createLargeFile();
  // together more than a second on any machine
  const responses = await Promise.all(Array.from({ length: 40 }, () => upload(file)));
  const late = responses.filter(({ status }) => status === 503);
  expect(late.length).toBeGreaterThan(0);
  for (const { headers } of late) expect(headers.get('retry-after')).toBe('30');
  expect(await countDocuments()).toBe(responses.filter(({ status }) => status === 201).length);
});

test('a file that needs too much memory is rejected as a bomb', async () => {
  await start({ IMPORT_WORKER_MEMORY_MB: '32' });
  expect((await upload(docx(p('Close the valve.')))).status).toBe(201);
  const { status, body } = await upload(createLargeFile());
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'import_invalid', reason: 'bomb' });
  expect(await countDocuments()).toBe(1);
});
