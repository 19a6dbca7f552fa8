/**
 * What a caller learns from a 401: which credential is needed, and why the one that was sent does not count.
 */
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
  const answers = { good: ada, expired: new RejectedToken('It has expired: get a new one.') };
  http = await httpFixture(handled, {
    authenticate: async (token) => Object.entries(answers).find(([name]) => name === token)?.[1],
  });
});
afterAll(() => http?.listening.close(0));

const ask = async (authorization?: string, path = '/thing') => {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await http.ask('GET', `/api/v1${path}`, { as: null, headers });
  const { code, detail } = await parseJson(answer);
  return [answer.status, code, detail, answer.headers.get('www-authenticate')];
};

describe('a 401', () => {
  test('without a credential asks for one and names no error', async () => {
    expect(await ask()).toEqual([
      401,
      'unauthenticated',
      'Send an access token or an API key as `Authorization: Bearer <token>`.',
      'Bearer',
    ]);
  });

  test('for a malformed header says how the header looks', async () => {
    for (const header of ['Basic good', 'Bearer', 'good', 'Bearer good bad', '']) {
      const [status, code, detail, challenge] = await ask(header);
      expect([status, code, detail]).toEqual([
        401,
        'unauthenticated',
        expect.stringContaining('Authorization: Bearer'),
      ]);
      expect(challenge).toBe(`Bearer error="invalid_request", error_description="${detail}"`);
    }
  });

  test('for a credential that does not count gives the reason', async () => {
    expect(await ask('Bearer expired')).toEqual([
      401,
      'unauthenticated',
      'It has expired: get a new one.',
      'Bearer error="invalid_token", error_description="It has expired: get a new one."',
    ]);
    expect((await ask('Bearer unknown'))[3]).toBe(
      'Bearer error="invalid_token", error_description="This credential is not valid."',
    );
  });

  test('of a handler says that the credential counts no longer', async () => {
    expect((await ask('Bearer good', '/vanish'))[3]).toBe('Bearer error="invalid_token"');
  });
});
