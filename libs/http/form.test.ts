/** Tests for the bodies of HTML forms, for replies with 303, passwords and cookies. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, form, nothing, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, parseJson } from '../testing/http-fixture.ts';
import { parseBasicPassword, parseCookies } from './credentials.ts';
import { handle, reply } from './handle.ts';

const send = operation({
  id: 'send',
  at: 'root',
  method: 'post',
  path: '/forms',
  summary: 'Send a form',
  access: anyone,
  body: form(z.strictObject({ text: z.string().max(10_000), note: z.string().optional() })),
  status: 303,
  returns: nothing,
  problems: [],
});

let http: HttpFixture;
const received: unknown[] = [];
beforeAll(async () => {
  http = await httpFixture([
    handle(send, async ({ body }) => {
      received.push(body);
      return reply(undefined, {
        headers: { Location: '/forms', 'Cache-Control': 'private' },
        isPrivate: true,
      });
    }),
  ]);
});
afterAll(() => http?.listening.close(0));

const type = 'application/x-www-form-urlencoded';
const post = (body: string | URLSearchParams, contentType = type) =>
  http.ask('POST', '/forms', {
    body,
    as: null,
    redirect: 'manual',
    headers: { 'content-type': contentType },
  });

test('a form is parsed and its reply is 303 without a body', async () => {
  const response = await post(
    new URLSearchParams({ text: 'ä & = +\n😀', note: '' }),
    `${type}; charset=UTF-8`,
  );
  expect([response.status, response.headers.get('location')]).toEqual([303, '/forms']);
  expect(response.headers.get('content-length')).toBe('0');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(received.at(-1)).toEqual({ text: 'ä & = +\n😀', note: '' });
});

test.each([
  ['nothing', '', 'body/text'],
  ['an unknown field', 'text=a&more=b', 'body/more'],
  ['a repeated field', 'text=a&text=b', 'body/text'],
  ['a field of the prototype', 'text=a&__proto__=b', 'body/__proto__'],
  ['bytes that are not UTF-8', 'text=%ff', 'body/text'],
])('a form with %s is 400', async (_name, body, path) => {
  const before = received.length;
  const response = await post(body);
  const problem = await parseJson(response);
  expect([response.status, problem.code, problem.errors[0].path]).toEqual([400, 'invalid_request', path]);
  expect(received).toHaveLength(before);
});

test('another media type is 415 and names the right one', async () => {
  for (const [body, contentType] of [
    ['{"text":"a"}', 'application/json'],
    ['text=a', 'text/plain'],
  ] as const) {
    const response = await post(body, contentType);
    expect([response.status, response.headers.get('accept')]).toEqual([415, type]);
    expect((await parseJson(response)).detail).toContain(type);
  }
});

test('a form above 16 KiB is 413', async () => {
  expect((await post(`text=${'a'.repeat(16 * 1024)}`)).status).toBe(413);
});

const basic = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the password of Basic authentication', () => {
  test.each([
    ['user:secret', 'secret'],
    [':secret', 'secret'],
    ['user:', ''],
    ['user:a:b', 'a:b'],
    ['u:Zürich 😀', 'Zürich 😀'],
    ['u:\ufeffx', '\ufeffx'],
  ])('of %j is %j', (credentials, password) => {
    expect(parseBasicPassword(basic(credentials))).toBe(password);
    expect(parseBasicPassword(basic(credentials).replace('Basic', 'bASIC '))).toBe(password);
  });

  test.each([
    undefined,
    '',
    'Basic',
    'Basic ',
    'Basic !!!!',
    'Basic dTpw dTpw',
    'Basic =',
    `Bearer ${Buffer.from('u:p').toString('base64')}`,
    basic('no colon'),
    basic(new Uint8Array([0x75, 0x3a, 0xff])),
  ])('of the header %j is undefined', (header) => {
    expect(parseBasicPassword(header)).toBeUndefined();
  });
});

test('all cookies with a name are found, and no others', () => {
  expect(parseCookies('a=1; b=2;a=3;  ab=4; xa=5; a; a=', 'a')).toEqual(['1', '3', '']);
  expect(parseCookies(undefined, 'a')).toEqual([]);
});
