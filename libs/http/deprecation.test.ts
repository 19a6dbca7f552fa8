/** Every response of a deprecated operation says so in its headers. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { id, NotFound, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, insider } from '../testing/http-fixture.ts';
import { createAdmission } from './admission.ts';
import { handle, reply } from './handle.ts';

const getOld = operation({
  id: 'getOld',
  method: 'get',
  path: '/old/{thing_id}',
  summary: 'Get',
  access: insider,
  params: z.object({ thing_id: id }),
  status: 200,
  returns: z.unknown(),
  etag: true,
  deprecated: { since: '2026-11-24', sunset: '2027-06-01', instead: 'Use `getNew`.' },
  problems: [NotFound],
});
const { deprecated: _, ...current } = getOld;
const getNew = operation({ ...current, id: 'getNew', path: '/new/{thing_id}' });
const existingId = '01890a5d-ac96-774b-bcce-b302099a8057';

let http: HttpFixture;

beforeAll(async () => {
  const find = async ({ params }: { params: { thing_id: string } }) => {
    if (params.thing_id !== existingId) throw NotFound();
    return reply({}, { etag: '1' });
  };
  http = await httpFixture([handle(getOld, find), handle(getNew, find)]);
});
afterAll(() => http?.listening.close(0));

const getNotice = ({ headers, status }: Response) => [
  status,
  headers.get('deprecation'),
  headers.get('sunset'),
];
const dates = ['@1795478400', 'Tue, 01 Jun 2027 00:00:00 GMT'];

test('responses of a deprecated operation have Deprecation and Sunset', async () => {
  const path = `/api/v1/old/${existingId}`;
  expect(getNotice(await http.ask('GET', path))).toEqual([200, ...dates]);
  expect(getNotice(await http.ask('HEAD', path))).toEqual([200, ...dates]);
  const headers = { 'if-none-match': '"1"' };
  expect(getNotice(await http.ask('GET', path, { headers }))).toEqual([304, ...dates]);
});

test('problems of a deprecated operation have Deprecation and Sunset', async () => {
  const path = '/api/v1/old/01890a5d-ac96-774b-bcce-b302099a8058';
  expect(getNotice(await http.ask('GET', path))).toEqual([404, ...dates]);
  expect(getNotice(await http.ask('GET', path, { as: null }))).toEqual([401, ...dates]);
  expect(getNotice(await http.ask('GET', path, { as: 'outsider' }))).toEqual([403, ...dates]);
  expect(getNotice(await http.ask('GET', `${path}?x=1`))).toEqual([400, ...dates]);
});

test('a rejection because of overload has Deprecation and Sunset', async () => {
  const routes = [handle(getOld, async () => reply({}, { etag: '1' }))];
  const overloaded = await httpFixture(routes, { admission: createAdmission({ maxInProgress: 0 }) });
  const response = await overloaded.ask('GET', `/api/v1/old/${existingId}`);
  await overloaded.listening.close(0);
  expect(getNotice(response)).toEqual([503, ...dates]);
});

test('responses of other operations have neither', async () => {
  expect(getNotice(await http.ask('GET', `/api/v1/new/${existingId}`))).toEqual([200, null, null]);
  expect(getNotice(await http.ask('GET', '/api/v1/nothing'))).toEqual([404, null, null]);
});
