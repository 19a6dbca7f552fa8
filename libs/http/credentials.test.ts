/** Tests the 401 responses: which credential is required, and why the sent one was rejected. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nothing, operation, RejectedToken, Unauthenticated } from '#libs/contract';
import { ada, type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';

const common = { method: 'get', summary: '', access: insider, problems: [] } as const;
const readThing = operation({ ...common, id: 'readThing', path: '/thing', status: 204, returns: nothing });
const vanish = operation({ ...common, id: 'vanish', path: '/vanish', status: 204, returns: nothing });

let http: HttpFixture;

beforeAll(async () => {
  const handled = [
    handle(readThing, async () => undefined),
    handle(vanish, async () => {
      throw Unauthenticated();
    }),
  ];
  const principals = { good: ada, expired: new RejectedToken('It has expired: get a new one.') };
  http = await httpFixture(handled, {
    authenticate: async (token) => Object.entries(principals).find(([name]) => name === token)?.[1],
  });
});
afterAll(() => http?.listening.close(0));

const request = async (authorization?: string, path = '/thing') => {
  const headers = authorization === undefined ? {} : { authorization };
  const response = await http.ask('GET', `/api/v1${path}`, { as: null, headers });
  const { code, detail } = await parseJson(response);
  return [response.status, code, detail, response.headers.get('www-authenticate')];
};

describe('a 401', () => {
  test('without a credential asks for one and names no error', async () => {
    expect(await request()).toEqual([
      401,
      'unauthenticated',
      'Send an access token or an API key as `Authorization: Bearer <token>`.',
      'Bearer',
    ]);
  });

  test('for a malformed header shows the expected format', async () => {
    for (const header of ['Basic good', 'Bearer', 'good', 'Bearer good bad', '']) {
      const [status, code, detail, challenge] = await request(header);
      expect([status, code, detail]).toEqual([
        401,
        'unauthenticated',
        expect.stringContaining('Authorization: Bearer'),
      ]);
      expect(challenge).toBe(`Bearer error="invalid_request", error_description="${detail}"`);
    }
  });

  test('for a rejected credential gives the reason', async () => {
    expect(await request('Bearer expired')).toEqual([
      401,
      'unauthenticated',
      'It has expired: get a new one.',
      'Bearer error="invalid_token", error_description="It has expired: get a new one."',
    ]);
    expect((await request('Bearer unknown'))[3]).toBe(
      'Bearer error="invalid_token", error_description="This credential is not valid."',
    );
  });

  test('from a handler says that the credential is no longer valid', async () => {
    expect((await request('Bearer good', '/vanish'))[3]).toBe('Bearer error="invalid_token"');
  });
});
