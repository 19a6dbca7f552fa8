/** Tests the log lines of requests that fail before their operation runs. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  httpClient,
  type Person,
  readMetric,
  register,
  shareDocument,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';
import { contracts } from '../services/contracts.ts';
import { services } from '../services/testing/services.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  // so that a burst of 400 requests overloads also a fast machine
  app = await testApp({ services, contracts, environment: { MAX_REQUESTS_IN_PROGRESS: '128' } });
  ada = await register(app);
});
afterAll(() => app?.stop());

const findLines = (requestId: string) => app.logLines().filter(({ request_id }) => request_id === requestId);

test('an unknown path is logged without its query', async () => {
  const headers = { 'x-request-id': 'typo-1' };
  const { status } = await app.request('POST', '/document?title=Payroll', { headers, body: {} });
  expect(status).toBe(404);
  expect(findLines('typo-1')).toEqual([
    expect.objectContaining({ level: 30, method: 'POST', path: '/api/v1/document', status: 404 }),
  ]);
  expect(JSON.stringify(app.logLines())).not.toContain('Payroll');
});

test('a wrong method is logged', async () => {
  await app.request('PUT', '/documents', { headers: { 'x-request-id': 'method-1' } });
  expect(findLines('method-1')).toEqual([
    expect.objectContaining({ method: 'PUT', path: '/api/v1/documents', status: 405 }),
  ]);
});

test('an unknown path on the management port is logged', async () => {
  await httpClient(app.management).request('GET', '/ready', { headers: { 'x-request-id': 'ops-1' } });
  expect(findLines('ops-1')).toEqual([expect.objectContaining({ path: '/ready', status: 404 })]);
});

test('a share token is never logged, even if its path is misspelled', async () => {
  const link = await shareDocument(app, ada.key);
  const client = httpClient(app.origin);
  for (const path of ['/embed/x/%/', '/Embed/x/%', '//embed/x/%', '/api/v1/embed/x/%', '/x%', '/e%6Dbed/x/%'])
    await client.request('GET', path.replace(/%(?!6)/, link.token));
  await client.request('DELETE', `/embed/x/${link.token}`);
  expect(link.token).toHaveLength(43);
  expect(JSON.stringify(app.logLines())).not.toContain(link.token.slice(0, 12));
});

test('a 400 logs the paths of the errors but no values', async () => {
  const headers = { 'x-request-id': 'wrong-1' };
  const body = { title: 7, nodes: [{ node_type: 'chapter-of-payroll' }] };
  expect((await app.request('POST', '/documents', { as: ada.key, headers, body })).status).toBe(400);
  const [line] = findLines('wrong-1');
  expect(line).toMatchObject({ operation: 'createDocument', status: 400, problem: 'invalid_request' });
  expect(line?.error_paths).toEqual(expect.arrayContaining(['body/title', 'body/nodes/0/node_type']));
  expect(JSON.stringify(line)).not.toContain('payroll');
});

test('rejections by an overloaded process share a line per second', async () => {
  let rejected = 0;
  await until('a request is rejected', async () => {
    const burst = Array.from({ length: 400 }, () => app.request('GET', '/documents', { as: ada.key }));
    for (const { status } of await Promise.all(burst)) rejected += Number(status === 503);
    return rejected > 0;
  });
  const labels = { operation: 'listDocuments', code: 'unavailable' };
  expect(await readMetric(app.management, 'http_problems_total', labels)).toBe(rejected);
  const findRejections = () => app.logLines().filter(({ msg }) => String(msg).includes('rejected requests'));
  const countLogged = () => findRejections().reduce((sum, { requests }) => sum + Number(requests), 0);
  await until('the rejections are logged', async () => countLogged() >= rejected);
  expect(countLogged()).toBe(rejected);
  expect(findRejections()[0]).toMatchObject({ level: 40 });
  expect(app.logLines().filter(({ status }) => status === 503)).toEqual([]);
});
