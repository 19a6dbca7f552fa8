/** Tests for the responses to invalid requests: query parameters, If-Match, bodies and media types. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, id, multipart, nothing, operation, PreconditionFailed } from '#libs/contract';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { isTagList } from './etag.ts';
import { formatBytes } from './format-bytes.ts';
import { handle } from './handle.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const color = z.enum(['red', 'green']);
const query = z.object({
  limit: z.coerce.number().int().min(1).max(100).optional(),
  color: z.union([color.transform((value) => [value]), z.array(color).max(2)]).optional(),
  unread: z.stringbool().optional(),
});
const listThings = operation({ ...common, id: 'listThings', method: 'get', path: '/things', query });
const countThings = operation({ ...common, id: 'countThings', method: 'get', path: '/things/counts' });
const readPage = operation({
  ...common,
  id: 'readPage',
  at: 'root',
  access: anyone,
  method: 'get',
  path: '/page',
  query: z.object({ format: z.enum(['json', 'html']).optional() }),
});
const changeThing = operation({
  ...common,
  id: 'changeThing',
  method: 'patch',
  path: '/things/{thing_id}',
  params: z.object({ thing_id: id }),
  body: z.strictObject({ name: z.string() }),
  problems: [PreconditionFailed],
});
const renameAll = operation({
  ...common,
  id: 'renameAll',
  method: 'patch',
  path: '/things',
  body: z.strictObject({ name: z.string() }),
});
const createThing = operation({
  ...common,
  id: 'createThing',
  method: 'post',
  path: '/things',
  maxBodyBytes: 1024 * 1024,
  body: z.strictObject({
    name: z.string().min(1).max(5),
    color,
    size: z.number().min(2).max(9),
    count: z.int(),
    due: z.iso.datetime({ offset: true }),
    owner: id,
    email: z.email(),
    site: z.url(),
    tags: z.array(z.string()).min(1).max(2),
    isOpen: z.boolean(),
    kind: z.literal('thing'),
    details: z.record(z.string(), z.unknown()),
  }),
});
const uploadThing = operation({
  ...common,
  id: 'uploadThing',
  method: 'post',
  path: '/uploads',
  status: 204,
  returns: nothing,
  body: multipart({ fields: z.object({}), file: 'file', maxFileBytes: 1536 }),
});

let http: HttpFixture;

beforeAll(async () => {
  http = await httpFixture([
    handle(listThings, async (input) => input.query),
    handle(countThings, async () => ({})),
    handle(readPage, async (input) => input.query),
    handle(changeThing, async ({ call }) => ({ tags: call.ifMatch ?? null })),
    handle(renameAll, async () => ({})),
    handle(createThing, async ({ body }) => body),
    handle(uploadThing, async () => undefined),
  ]);
});
afterAll(() => http?.listening.close(0));

const json = { 'content-type': 'application/json' };
const getErrors = async (response: Promise<Response>) => {
  const { status, code, errors } = await parseJson(response);
  expect([status, code]).toEqual([400, 'invalid_request']);
  return errors;
};

describe('query parameters', () => {
  const list = (text: string) => http.ask('GET', `/api/v1/things?${text}`);

  test('an unknown parameter below /api/v1 is 400 and lists known ones', async () => {
    const taken = 'this operation takes limit, color, unread';
    expect(await getErrors(list('limit=5&utm=x&__proto__=1'))).toEqual([
      { path: 'query/utm', message: `Unknown parameter: ${taken}` },
      { path: 'query/__proto__', message: `Unknown parameter: ${taken}` },
    ]);
    expect(await getErrors(http.ask('GET', '/api/v1/things/counts?limit=5'))).toEqual([
      { path: 'query/limit', message: 'Unknown parameter: this operation takes no query parameters' },
    ]);
  });

  test('an unknown parameter outside /api/v1 is ignored', async () => {
    expect(await parseJson(http.ask('GET', '/page?utm_source=mail&format=html'))).toEqual({ format: 'html' });
  });

  test('a repeated parameter is 400 unless it accepts a list', async () => {
    const once = 'Send this parameter only once';
    expect(await getErrors(list('limit=1&limit=2&color=blue'))).toEqual([
      { path: 'query/limit', message: once },
      { path: 'query/color', message: 'Use one of: red, green' },
    ]);
    expect(await getErrors(http.ask('GET', '/page?format=json&format=html'))).toEqual([
      { path: 'query/format', message: once },
    ]);
    expect(await parseJson(list('color=red&color=green'))).toEqual({ color: ['red', 'green'] });
    expect(await getErrors(list('color=red&color=blue'))).toEqual([
      { path: 'query/color/1', message: 'Use one of: red, green' },
    ]);
  });

  test('messages for invalid values name the valid values', async () => {
    expect(await getErrors(list('limit=x&unread=perhaps'))).toEqual([
      { path: 'query/limit', message: 'Must be a number' },
      { path: 'query/unread', message: 'Use true or false' },
    ]);
    for (const [sent, message] of [
      ['0', 'Must be at least 1'],
      ['101', 'Must be at most 100'],
      ['1.5', 'Must be a whole number'],
    ])
      expect(await getErrors(list(`limit=${sent}`))).toEqual([{ path: 'query/limit', message }]);
  });
});

describe('If-Match', () => {
  const thing = '01890a5d-ac96-774b-bcce-b302099a8057';
  const change = (header: string, body = '{"name":"n"}') =>
    http.ask('PATCH', `/api/v1/things/${thing}`, { headers: { ...json, 'if-match': header }, body });

  test('a malformed If-Match is 400, listed with other errors', async () => {
    const message = 'Put the ETag in quotes, such as "7"';
    for (const header of ['7', 'W/7', '"7', '7"', '"7" 8', '"7", 8', '', '"7", *', "'7'", 'w/"7"'])
      expect([header, await getErrors(change(header))]).toEqual([
        header,
        [{ path: 'header/If-Match', message }],
      ]);
    expect(await getErrors(change('7', '{}'))).toEqual([
      { path: 'header/If-Match', message },
      { path: 'body/name', message: 'Required' },
    ]);
  });

  test('weak ETags, lists and * are accepted', async () => {
    for (const [header, tags] of [
      ['"7"', ['7']],
      ['W/"7"', ['7']],
      ['"a,b" ,W/"c",, ""', ['a,b', 'c', '']],
      ['*', null],
    ] as const)
      expect(await parseJson(change(header))).toEqual({ tags });
  });

  test('an operation without an ETag check ignores If-Match', async () => {
    const headers = { ...json, 'if-match': '7' };
    expect((await http.ask('PATCH', '/api/v1/things', { headers, body: '{"name":"n"}' })).status).toBe(200);
  });

  test('a long malformed list is rejected in linear time', () => {
    for (const part of ['"a",', ',', ' ', '" ,', 'W/', '"a" '])
      expect(isTagList(`"a"${part.repeat(4_000)}x`)).toBe(false);
  });
});

describe('messages of errors in a body', () => {
  const create = (body: unknown) =>
    http.ask('POST', '/api/v1/things', { headers: json, body: JSON.stringify(body) });
  const getMessages = async (body: unknown) =>
    Object.fromEntries(
      (await getErrors(create(body))).map(({ path, message }: Record<string, string>) => [path, message]),
    );

  test('every missing field is Required, whatever its type', async () => {
    const messages = Object.values(await getMessages({}));
    expect(messages).toEqual(Array(12).fill('Required'));
    expect(await getMessages(undefined)).toEqual({ body: 'Required' });
  });

  test('the message for a wrong type names the expected type', async () => {
    expect(
      await getMessages({
        name: 1,
        color: 1,
        size: '3',
        count: 1.5,
        due: 5,
        owner: {},
        email: [],
        site: null,
        tags: 'a',
        isOpen: 'yes',
        kind: true,
        details: [],
      }),
    ).toEqual({
      'body/name': 'Must be a string, not a number',
      'body/color': 'Use one of: red, green',
      'body/size': 'Must be a number, not a string',
      'body/count': 'Must be a whole number',
      'body/due': 'Must be a string, not a number',
      'body/owner': 'Must be a string, not an object',
      'body/email': 'Must be a string, not a list',
      'body/site': 'Must be a string, not null',
      'body/tags': 'Must be a list, not a string',
      'body/isOpen': 'Must be true or false, not a string',
      'body/kind': 'Use thing',
      'body/details': 'Must be an object, not a list',
    });
  });

  test('the message for a wrong format or size names the expected one', async () => {
    expect(
      await getMessages({
        name: 'too long',
        color: 'blue',
        size: 10,
        count: 2,
        due: '21.11.2026',
        owner: 'me',
        email: 'me',
        site: 'here',
        tags: ['a', 'b', 'c'],
        isOpen: true,
        kind: 'other',
        details: {},
      }),
    ).toEqual({
      'body/name': 'Must have at most 5 characters',
      'body/color': 'Use one of: red, green',
      'body/size': 'Must be at most 9',
      'body/due': 'Must be a time in ISO 8601 such as 2026-11-21T09:30:00Z',
      'body/owner': 'Must be an identifier (UUID)',
      'body/email': 'Must be an email address such as name@example.com',
      'body/site': 'Must be a URL such as https://example.com',
      'body/tags': 'Must have at most 2 items',
      'body/kind': 'Use thing',
    });
    expect(await getMessages({ name: '', size: 1, tags: [] })).toMatchObject({
      'body/name': 'Must not be empty',
      'body/size': 'Must be at least 2',
      'body/tags': 'Must have at least 1 item',
    });
  });

  test('sizes are formatted in KiB and MiB', async () => {
    const tooLarge = http.ask('POST', '/api/v1/things', { headers: json, body: ' '.repeat(1024 * 1024 + 1) });
    expect(await parseJson(tooLarge)).toMatchObject({
      detail: 'The body is larger than 1 MiB.',
      limit_bytes: 1024 * 1024,
    });
    const form = new FormData();
    form.set('file', new File(['x'.repeat(2_000)], 'a'));
    expect(await parseJson(http.ask('POST', '/api/v1/uploads', { body: form }))).toMatchObject({
      detail: 'The file is larger than 1.5 KiB.',
      limit_bytes: 1536,
    });
    expect([1, 1000, 1024, 33_554_432].map(formatBytes)).toEqual(['1 byte', '1000 bytes', '1 KiB', '32 MiB']);
  });
});

describe('media types of bodies', () => {
  const create = (headers: Record<string, string>) =>
    http.ask('POST', '/api/v1/things', { headers, body: Buffer.from('{}') });

  test('an unsupported content type is 415 with the header Accept', async () => {
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x']) {
      const response = await create({ 'content-type': type });
      expect([response.status, response.headers.get('accept')]).toEqual([415, 'application/json']);
      expect((await parseJson(response)).detail).toContain('application/json');
    }
  });

  test('an unsupported encoding is 415 with the header Accept-Encoding', async () => {
    const response = await create({ ...json, 'content-encoding': 'compress' });
    expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'gzip, deflate, br']);
    expect((await parseJson(response)).detail).toContain('gzip, deflate, br');
  });

  test('an upload with another content type or an encoding is 400', async () => {
    const upload = (headers: Record<string, string>) =>
      http.ask('POST', '/api/v1/uploads', { headers, body: Buffer.from('{}') });
    const code = 'malformed_multipart';
    expect(await parseJson(upload(json))).toMatchObject({ status: 400, code });
    const type = { 'content-type': 'multipart/form-data; boundary=x' };
    const encoded = await upload({ ...type, 'content-encoding': 'gzip' });
    expect(encoded.headers.get('accept-encoding')).toBe('identity');
    expect(await parseJson(encoded)).toMatchObject({
      status: 400,
      code,
      detail: 'Send the body without Content-Encoding.',
    });
  });
});
