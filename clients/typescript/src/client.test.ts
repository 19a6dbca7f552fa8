/** Tests the client against an HTTP server that fails in the ways of networks, proxies and the service. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { closeServer, listenLocally, until } from '../../../libs/testing/mod.ts';
import { ConnectionError, createClient, ProblemError, TimeoutError } from './mod.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let url: string;
/** The answers to the next requests; the last one answers all further requests. */
let answers: Answer[] = [];
let received: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => (body += part));
    request.on('end', () => {
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body,
      });
      (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
    });
  });
  url = `http://127.0.0.1:${await listenLocally(server)}`;
});
afterAll(() => closeServer(server));
beforeEach(() => {
  received = [];
});

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const problem = (status: number, code: string, headers: Record<string, string> = {}, more = {}): Answer =>
  json(
    status,
    { status, code, title: 'Title.', detail: 'Detail.', request_id: 'r1', ...more },
    {
      'content-type': 'application/problem+json',
      ...headers,
    },
  );
const dropConnection: Answer = (request) => void request.socket.destroy();
const breakBody: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"id":', () => request.socket.destroy());
};
const stayIdle: Answer = () => {};

const client = () => createClient({ url, key: 'pds_key' });

describe('results', () => {
  test('a list of people is JSON, and a file for the format csv', async () => {
    const csv: Answer = (_, response) => {
      const headers = {
        'content-type': 'text/csv',
        'content-disposition': 'attachment; filename="people.csv"',
      };
      response.writeHead(200, headers).end('id,name\r\n');
    };
    answers = [csv, csv, json(200, [])];
    const input = { request_id: 'x', format: 'csv' } as const;
    const file = await client().listPeople(input);
    expect([file.name, await file.text()]).toEqual(['people.csv', 'id,name\r\n']);
    const { data } = await client().withResponse.listPeople(input);
    expect(await data.text()).toBe('id,name\r\n');
    expect((await client().listPeople({ request_id: 'x', format: 'json' })).length).toBe(0);
    // @ts-expect-error -- pages are JSON
    client().pages.listPeople(input);
    const path = '/api/v1/acknowledgement-requests/x/people?format=';
    expect(received.map((one) => one.path)).toEqual([`${path}csv`, `${path}csv`, `${path}json`]);
  });

  test('a call returns the data, withResponse also the ETag and the request id', async () => {
    answers = [json(200, { id: 'x' }, { etag: '"7"', 'x-request-id': 'r1', 'idempotency-replayed': 'true' })];
    expect(await client().getDocument({ doc_id: 'x' })).toEqual({ id: 'x' });
    const facts = { data: { id: 'x' }, etag: '"7"', requestId: 'r1', isReplayed: true, status: 200 };
    expect(await client().withResponse.getDocument({ doc_id: 'x' })).toMatchObject(facts);
    expect(received[0]?.headers.authorization).toBe('Bearer pds_key');
  });

  test('a public operation sends no credentials', async () => {
    answers = [json(200, {})];
    await client().getEmbeddedDocument({ org_slug: 'acme', token: 't' });
    expect([received[0]?.path, received[0]?.headers.authorization]).toEqual(['/embed/acme/t', undefined]);
  });

  test('the password of a public link is sent as Basic authentication', async () => {
    answers = [json(200, {}), json(200, {})];
    const params = { org_slug: 'acme', token: 't' };
    await client().getEmbeddedDocument(params, { password: 'Zürich 😀' });
    await client().withResponse.getEmbeddedDocument(params, { password: 'x', ifNoneMatch: '"7"' });
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from(':Zürich 😀').toString('base64')}`,
      `Basic ${Buffer.from(':x').toString('base64')}`,
    ]);
  });

  test('a function provides the key of each call', async () => {
    answers = [json(200, [])];
    let count = 0;
    const renewing = createClient({ url, key: async () => `token-${++count}` });
    await renewing.listRoles();
    await renewing.listRoles();
    expect(received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
  });

  test('304 says that what you have is current', async () => {
    answers = [(_, response) => void response.writeHead(304, { etag: '"7"' }).end()];
    const response = await client().withResponse.getDocument({ doc_id: 'x' }, { ifNoneMatch: '"7"' });
    expect([response.isModified, response.data, response.etag]).toEqual([false, undefined, '"7"']);
    expect(received[0]?.headers['if-none-match']).toBe('"7"');
    answers = [json(200, { title: 'x' })];
    const first = await client().withResponse.getDocument({ doc_id: 'x' }, { ifNoneMatch: undefined });
    expect([first.isModified && first.data.title, received[1]?.headers['if-none-match']]).toEqual([
      'x',
      undefined,
    ]);
  });

  test('a list is read page by page, and only as far as needed', async () => {
    answers = [
      json(200, [{ id: 1 }, { id: 2 }], { link: '<https://other.example/documents?cursor=c2>; rel="next"' }),
      json(200, [{ id: 3 }]),
    ];
    const ids = [];
    for await (const { id } of client().iterate.listDocuments({ q: 'till' })) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/documents?q=till',
      '/api/v1/documents?q=till&cursor=c2',
    ]);
    answers = [json(200, [{ id: 1 }], { link: '</x?cursor=c>; rel="next"' })];
    received = [];
    for await (const page of client().pages.listDocuments()) {
      expect(page).toEqual([{ id: 1 }]);
      break;
    }
    expect(received).toHaveLength(1);
  });

  test('a page that is no list is an unexpected response', async () => {
    answers = [json(200, { id: 1 })];
    const error = await client()
      .iterate.listDocuments()
      .next()
      .catch((reason) => reason);
    expect(error).toMatchObject({ status: 200, code: 'unexpected_response' });
    expect(error.detail).toMatch(/The response begins with: {"id":1}$/);
  });
});

describe('errors', () => {
  test('a problem becomes an error with all its fields', async () => {
    const errors = [{ path: 'body/title', message: 'Required' }];
    answers = [problem(400, 'invalid_request', {}, { errors, limit: 3 })];
    const error = await client()
      .createDocument({ body: { title: '' } })
      .catch((reason) => reason);
    expect(error).toBeInstanceOf(ProblemError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      detail: 'Detail.',
      errors,
      requestId: 'r1',
    });
    expect(error.members.limit).toBe(3);
    expect(error.message).toBe('Detail.\nbody/title: Required');
    expect(received).toHaveLength(1);
  });

  test.each([
    ['a page', 200, 'text/html', '<html>'],
    ['broken JSON', 200, 'application/json', '{"id":'],
    ['an error page of a proxy', 400, 'text/html', '<html>'],
    ['a JSON error of another server', 404, 'application/json', '{"error":"no route"}'],
  ])('%s is an unexpected response', async (_, status, type, text) => {
    answers = [(_, response) => void response.writeHead(status, { 'content-type': type }).end(text)];
    const rejected = expect(client().getMe()).rejects;
    await rejected.toMatchObject({
      status,
      code: 'unexpected_response',
      detail: expect.stringContaining(text),
    });
  });

  test('a page instead of a file or nothing is an unexpected response', async () => {
    const page: Answer = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<p>Log in</p>');
    answers = [page];
    const unexpected = {
      code: 'unexpected_response',
      detail: expect.stringContaining('<p>Log in</p>'),
    };
    await expect(client().exportMarkdown({ doc_id: 'x' })).rejects.toMatchObject(unexpected);
    await expect(client().deleteDocument({ doc_id: 'x' })).rejects.toMatchObject(unexpected);
    await expect(client().listPeople({ request_id: 'x', format: 'csv' })).rejects.toMatchObject(unexpected);
    expect(await (await client().exportHtml({ doc_id: 'x' })).text()).toBe('<p>Log in</p>');
  });

  test('a redirect is reported with its target, and not followed', async () => {
    answers = [(_, response) => void response.writeHead(301, { location: 'https://new.example/' }).end()];
    const rejected = expect(client().createDocument({ body: { title: 'x' } })).rejects;
    await rejected.toMatchObject({
      status: 301,
      detail: expect.stringContaining('redirects to https://new.example/'),
    });
    expect(received).toHaveLength(1);
  });

  test('an unreachable service is reported with its address and the reason', async () => {
    const unreachable = createClient({ url: 'http://127.0.0.1:9', retries: 0 });
    const error = await unreachable.getMe().catch((reason) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/GET \/api\/v1\/me: no response from http:\/\/127.0.0.1:9 \(.+\)/);
  });

  test('a key with a line break is rejected before a request', async () => {
    const wrong = createClient({ url, key: 'pds\nkey' });
    const message =
      'The value of the header authorization is empty or has characters that a header cannot have.';
    await expect(wrong.getMe()).rejects.toEqual(new TypeError(message));
    expect(received).toEqual([]);
  });
});

describe('repetition', () => {
  test('a request over the limit is repeated with the same idempotency key', async () => {
    const wait = { 'retry-after': '0' };
    answers = [
      problem(429, 'too_many_requests', wait),
      problem(503, 'unavailable', wait),
      json(201, { id: 'x' }),
    ];
    expect(await client().createDocument({ body: { title: 'x' } })).toEqual({ id: 'x' });
    const keys = received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0]]);
    expect(received.map(({ body }) => body)).toEqual(Array(3).fill('{"title":"x"}'));
  });

  test('an upload is repeated in full', async () => {
    answers = [problem(503, 'unavailable', { 'retry-after': '0' }), json(201, { id: 'x' })];
    await client().createTemplate({ body: { name: 'Corporate', file: new Uint8Array([80, 75, 3, 4]) } });
    const parts = received.map(({ body }) => body.replaceAll(/-{4,}\S+/g, '--'));
    expect(parts[0]).toContain('PK');
    expect(parts[1]).toBe(parts[0]);
  });

  test.each([
    ['a dropped connection', dropConnection],
    ['a response that breaks off', breakBody],
    ['a proxy without the service', json(502, {}, { 'content-type': 'text/html' })],
  ])('a POST is repeated after %s', async (_, failure) => {
    answers = [failure, json(201, { id: 'x' })];
    expect(await client().createDocument({ body: { title: 'x' } })).toEqual({ id: 'x' });
    expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(received).toHaveLength(2);
  });

  test('a PATCH is not repeated after a dropped connection', async () => {
    answers = [dropConnection];
    const rejected = expect(client().updateDocument({ doc_id: 'x', body: { title: 'y' } })).rejects;
    await rejected.toBeInstanceOf(ConnectionError);
    expect(received).toHaveLength(1);
  });

  test('a repeated DELETE that finds nothing has worked', async () => {
    const [proxyError, notFound] = [json(504, {}, { 'retry-after': '0' }), problem(404, 'not_found')];
    for (const failure of [dropConnection, proxyError]) {
      received = [];
      answers = [failure, notFound];
      await client().deleteDocument({ doc_id: 'x' });
      expect(received).toHaveLength(2);
    }
    // without the first answer, or if the service has executed nothing, there was no such document
    for (const first of [[], [problem(503, 'unavailable', { 'retry-after': '0' })]]) {
      answers = [...first, notFound];
      await expect(client().deleteDocument({ doc_id: 'x' })).rejects.toMatchObject({ status: 404 });
    }
  });

  test('the last error is reported when the repetitions are used up', async () => {
    answers = [problem(503, 'unavailable', { 'retry-after': '0' })];
    const rejected = expect(createClient({ url, retries: 2 }).listRoles()).rejects;
    await rejected.toMatchObject({ code: 'unavailable', retryAfterSeconds: 0 });
    expect(received).toHaveLength(3);
  });
});

describe('time limits', () => {
  test('an attempt without a response fails after its time limit', async () => {
    answers = [stayIdle];
    const limited = createClient({ url, retries: 0, timeoutMs: 50 });
    await expect(limited.getMe()).rejects.toBeInstanceOf(TimeoutError);
    const message = expect(client().updateMember({ member_id: 'x', body: {} }, { timeoutMs: 50 })).rejects;
    await message.toThrow('PATCH /api/v1/members/x: no response');
  });

  test('a call without a time limit waits for its response', async () => {
    answers = [(_, response) => void setTimeout(() => response.end(), 50)];
    const unlimited = createClient({ url, retries: 0, timeoutMs: Number.POSITIVE_INFINITY });
    await expect(unlimited.getMe()).rejects.toMatchObject({ status: 200, code: 'unexpected_response' });
  });

  test('a signal ends a call that waits for its response', async () => {
    answers = [stayIdle];
    const controller = new AbortController();
    const call = client().getMe({}, { signal: controller.signal });
    await until('the request', async () => received.length > 0);
    controller.abort(new Error('stopped by the user'));
    await expect(call).rejects.toThrow('stopped by the user');
  });

  test('a signal ends a call that waits for its key, and prevents the next one', async () => {
    const asked = Promise.withResolvers<void>();
    const key = () => {
      asked.resolve();
      return new Promise<string>(() => {});
    };
    const controller = new AbortController();
    const call = createClient({ url, key }).getMe({}, { signal: controller.signal });
    await asked.promise;
    controller.abort(new Error('stopped by the user'));
    await expect(call).rejects.toThrow('stopped by the user');
    const ending = new AbortController();
    const endingKey = () => {
      ending.abort(new Error('stopped by the key'));
      return new Promise<string>(() => {});
    };
    const endedByKey = createClient({ url, key: endingKey }).getMe({}, { signal: ending.signal });
    await expect(endedByKey).rejects.toThrow('stopped by the key');
    const unused = () => Promise.reject(new Error('The key was requested'));
    const ended = createClient({ url, key: unused }).getMe({}, { signal: controller.signal });
    await expect(ended).rejects.toThrow('stopped by the user');
    expect(received).toEqual([]);
  });

  test('a signal ends a call that waits for its next attempt', async () => {
    answers = [problem(503, 'unavailable', { 'retry-after': '20' })];
    const controller = new AbortController();
    const call = client().getMe({}, { signal: controller.signal });
    await until('the request', async () => received.length > 0);
    controller.abort(new Error('stopped by the user'));
    await expect(call).rejects.toThrow('stopped by the user');
    expect(received).toHaveLength(1);
  });

  test('the time limit of a download ends with its beginning', async () => {
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answers = [
      async (_, response) => {
        response.writeHead(200, { 'content-disposition': 'attachment; filename="a.md"' }).write('# A');
        begun.resolve();
        await finish.promise;
        response.end('\n');
      },
    ];
    const limitMs = 400;
    const file = await client().exportMarkdown({ doc_id: 'x' }, { timeoutMs: limitMs });
    await begun.promise;
    const late = AbortSignal.timeout(limitMs * 2);
    await until('the end of the time limit', async () => late.aborted);
    finish.resolve();
    expect([file.name, await file.text()]).toEqual(['a.md', '# A\n']);
  });
});
