/**
 * What the gateway promises: each path to its service, bodies as they come, a clear answer when a service is
 * down.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type AnyOperation, anyone, contract, nothing, operation } from '#libs/contract';
import { gateway } from './gateway.ts';
import { listen } from './server.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const books = declared('books', '/books', '/books/{book_id}', '/files/a.b');
const loans = declared('loans', '/books/{book_id}/loans', '/books/today', '/shelf/{name}');

test('each path leads to the service whose contract declares it, the plain one before the one with a parameter', async () => {
  const origin = await joined({ books: naming('books'), loans: naming('loans') });
  const service = async (path: string) => (await fetch(origin + path)).text();
  expect(await service('/api/books')).toBe('books');
  expect(await service('/api/books/')).toBe('books');
  expect(await service('/api/books/1?page=/api/books/1/loans')).toBe('books');
  expect(await service('/api/books/1/loans')).toBe('loans');
  expect(await service('/api/books/today')).toBe('loans');
  expect(await service('/api/shelf/a%2Fb')).toBe('loans');
  expect(await service('/api/files/a.b')).toBe('books');
});

test('a path that nobody declares is a 404 of the gateway', async () => {
  const origin = await joined({ books: naming('books'), loans: naming('loans') });
  for (const path of ['/api/book', '/books', '/api/books/1/loans/2', '/api/files/axb', '/']) {
    const answer = await fetch(origin + path, { headers: { 'x-request-id': 'mine' } });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 404, code: 'not_found', request_id: 'mine' });
  }
});

test('the service learns who asks from the gateway alone, and the id of the request is kept', async () => {
  const origin = await joined({
    books: (incoming, response) =>
      response
        .setHeader('x-request-id', String(incoming.headers['x-request-id']))
        .end(JSON.stringify(incoming.headers)),
  });
  const said = {
    'x-forwarded-for': '203.0.113.9',
    'x-request-id': 'abc-1',
    connection: 'x-private',
    'x-private': 'no',
  };
  const answer = await asked(origin, '/api/books', said);
  expect(JSON.parse(answer.text)).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-request-id': 'abc-1' });
  expect(answer.text).not.toContain('x-private');
  expect(answer.headers['x-request-id']).toBe('abc-1');
  const made = await asked(origin, '/api/books', { 'x-request-id': 'not an id' });
  expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('every method goes to the service, so preflight requests are answered there', async () => {
  const origin = await joined({
    books: (incoming, response) => response.setHeader('x-method', incoming.method ?? '').end(),
  });
  for (const method of ['OPTIONS', 'DELETE']) {
    const answer = await fetch(`${origin}/api/books`, { method });
    expect(answer.headers.get('x-method')).toBe(method);
  }
});

test('status, repeated headers and bytes come back unchanged', async () => {
  const bytes = Buffer.from([0, 255, 13, 10, 0]);
  const origin = await joined({
    books: (_, response) => response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], etag: '"1"' }).end(bytes),
  });
  const answer = await fetch(`${origin}/api/books`);
  expect(answer.status).toBe(201);
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
});

test('bodies flow both ways while they are written: nothing is kept until the end', async () => {
  const origin = await joined({
    // each part goes back as soon as it arrives
    books: (incoming, response) => incoming.pipe(response),
  });
  const outgoing = request(`${origin}/api/books`, {
    method: 'DELETE',
    headers: { 'transfer-encoding': 'chunked' },
  });
  outgoing.write('first');
  const [response] = await once(outgoing, 'response');
  response.setEncoding('utf8');
  expect((await once(response, 'data'))[0]).toBe('first');
  outgoing.write('second');
  expect((await once(response, 'data'))[0]).toBe('second');
  outgoing.end();
  await once(response, 'end');
});

test('a body that is refused early is answered, not cut off', async () => {
  const origin = await joined({
    books: (_, response) => response.writeHead(413).end('too large'),
  });
  for (let tries = 0; tries < 5; tries += 1) {
    const answer = await fetch(`${origin}/api/books`, { method: 'POST', body: new Uint8Array(8_000_000) });
    expect([answer.status, await answer.text()]).toEqual([413, 'too large']);
  }
});

test('a service that is down is a 503 with Retry-After, and the others go on', async () => {
  const down = createServer().listen(0, '127.0.0.1');
  await once(down, 'listening');
  const { port } = down.address() as AddressInfo;
  down.close();
  await once(down, 'close');
  const origin = await joined({ loans: naming('loans') }, { books: `http://127.0.0.1:${port}` });
  const answer = await fetch(`${origin}/api/books`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(await answer.json()).toMatchObject({ status: 503, code: 'unavailable' });
  expect(await (await fetch(`${origin}/api/books/today`)).text()).toBe('loans');
});

test('a service that breaks off before it answers is a 502, one that breaks off within its answer is an answer that breaks off', async () => {
  const origin = await joined({
    books: (incoming) => incoming.socket.destroy(),
    loans(_, response) {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    },
  });
  const answer = await fetch(`${origin}/api/books`);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(await answer.json()).toMatchObject({ status: 502, code: 'bad_gateway' });
  const broken = await fetch(`${origin}/api/books/today`);
  await expect(broken.text()).rejects.toThrow();
});

test('a client that goes away ends the request at the service', async () => {
  const gone = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const origin = await joined({
    books(_, response) {
      response.on('close', gone.resolve);
      arrived.resolve();
    },
  });
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write('GET /api/books HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.promise;
  socket.destroy();
  await gone.promise;
});

/** A contract with an operation for each path. */
function declared(name: string, ...paths: string[]) {
  const operations: AnyOperation[] = paths.map((path) =>
    operation({
      id: path,
      method: 'get',
      path,
      summary: path,
      access: anyone,
      status: 204,
      returns: nothing,
      problems: [],
    }),
  );
  return contract({
    name,
    title: name,
    description: name,
    operations,
    publishes: [],
    consumes: [],
    owns: [],
    views: [],
    reads: [],
  });
}

function naming(name: string): RequestListener {
  return (_, response) => void response.end(name);
}

/** A gateway over services that answer as told; gives its origin. */
async function joined(
  services: Record<string, RequestListener>,
  more: Record<string, string> = {},
): Promise<string> {
  const addresses = { ...more };
  for (const [name, answers] of Object.entries(services)) {
    const { port, close } = await listen(answers, 0, '127.0.0.1');
    closing.push(() => close(0));
    addresses[name] = `http://127.0.0.1:${port}`;
  }
  const all = gateway({ contracts: [books, loans], apiPrefix: '/api', addresses, onError: () => {} });
  const { port, close } = await listen(all, 0, '127.0.0.1');
  closing.unshift(() => close(0));
  return `http://127.0.0.1:${port}`;
}

/** Asks with headers that `fetch` would not send. */
async function asked(origin: string, path: string, headers: Record<string, string>) {
  const outgoing = request(origin + path, { headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  response.setEncoding('utf8');
  let text = '';
  for await (const part of response) text += part;
  return { headers: response.headers, text };
}
