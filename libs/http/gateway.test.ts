/**
 * Tests for the gateway: routing by path, streaming in both directions, clear errors when a service is down.
 */
import { once } from 'node:events';
import { createServer, type RequestListener, request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type AnyOperation, anyone, contract, nothing, operation } from '#libs/contract';
import { closeServer, listenLocally } from '#libs/testing';
import { gateway } from './gateway.ts';
import { listen } from './listen.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const books = contractWithPaths('books', '/books', '/books/{book_id}', '/files/a.b');
const loans = contractWithPaths('loans', '/books/{book_id}/loans', '/books/today', '/shelf/{name}');

test('a path goes to its service, literal paths before parameters', async () => {
  const origin = await startGateway({ books: respondWithName('books'), loans: respondWithName('loans') });
  const service = async (path: string) => (await fetch(origin + path)).text();
  expect(await service('/api/books')).toBe('books');
  expect(await service('/api/books/')).toBe('books');
  expect(await service('/api/books/1?page=/api/books/1/loans')).toBe('books');
  expect(await service('/api/books/1/loans')).toBe('loans');
  expect(await service('/api/books/today')).toBe('loans');
  expect(await service('/api/shelf/a%2Fb')).toBe('loans');
  expect(await service('/api/files/a.b')).toBe('books');
});

test('an undeclared path is a 404 from the gateway', async () => {
  const origin = await startGateway({ books: respondWithName('books'), loans: respondWithName('loans') });
  for (const path of ['/api/book', '/books', '/api/books/1/loans/2', '/api/files/axb', '/']) {
    const response = await fetch(origin + path, { headers: { 'x-request-id': 'mine' } });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 404, code: 'not_found', request_id: 'mine' });
  }
});

test('a forged X-Forwarded-For is replaced, the request id is kept', async () => {
  const origin = await startGateway({
    books: (incoming, response) =>
      response
        .setHeader('x-request-id', String(incoming.headers['x-request-id']))
        .end(JSON.stringify(incoming.headers)),
  });
  const sentHeaders = {
    'x-forwarded-for': '203.0.113.9',
    'x-request-id': 'abc-1',
    connection: 'x-private',
    'x-private': 'no',
  };
  const response = await sendRequest(origin, '/api/books', sentHeaders);
  expect(JSON.parse(response.text)).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-request-id': 'abc-1',
  });
  expect(response.text).not.toContain('x-private');
  expect(response.headers['x-request-id']).toBe('abc-1');
  const generated = await sendRequest(origin, '/api/books', { 'x-request-id': 'not an id' });
  expect(generated.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test('every method is forwarded, including OPTIONS', async () => {
  const origin = await startGateway({
    books: (incoming, response) => response.setHeader('x-method', incoming.method ?? '').end(),
  });
  for (const method of ['OPTIONS', 'DELETE']) {
    const response = await fetch(`${origin}/api/books`, { method });
    expect(response.headers.get('x-method')).toBe(method);
  }
});

test('status, repeated headers and bytes are returned unchanged', async () => {
  const bytes = Buffer.from([0, 255, 13, 10, 0]);
  const origin = await startGateway({
    books: (_, response) => response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], etag: '"1"' }).end(bytes),
  });
  const response = await fetch(`${origin}/api/books`);
  expect(response.status).toBe(201);
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
});

test('bodies are streamed in both directions without buffering', async () => {
  const origin = await startGateway({
    // echoes each chunk as soon as it arrives
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

test('a body that is rejected early still gets its response', async () => {
  const origin = await startGateway({
    books: (_, response) => response.writeHead(413).end('too large'),
  });
  for (let tries = 0; tries < 5; tries += 1) {
    const response = await fetch(`${origin}/api/books`, { method: 'POST', body: new Uint8Array(8_000_000) });
    expect([response.status, await response.text()]).toEqual([413, 'too large']);
  }
});

test('a service that is down is a 503, other services still work', async () => {
  const down = createServer();
  const port = await listenLocally(down);
  await closeServer(down);
  const origin = await startGateway(
    { loans: respondWithName('loans') },
    { books: `http://127.0.0.1:${port}` },
  );
  const response = await fetch(`${origin}/api/books`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await response.json()).toMatchObject({ status: 503, code: 'unavailable' });
  expect(await (await fetch(`${origin}/api/books/today`)).text()).toBe('loans');
});

test('a service that disconnects is a 502 or an aborted response', async () => {
  const origin = await startGateway({
    books: (incoming) => incoming.socket.destroy(),
    loans(_, response) {
      response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    },
  });
  const response = await fetch(`${origin}/api/books`);
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await response.json()).toMatchObject({ status: 502, code: 'bad_gateway' });
  const broken = await fetch(`${origin}/api/books/today`);
  await expect(broken.text()).rejects.toThrow();
});

test('a client that disconnects aborts the request to the service', async () => {
  const aborted = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const origin = await startGateway({
    books(_, response) {
      response.on('close', aborted.resolve);
      arrived.resolve();
    },
  });
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  socket.write('GET /api/books HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.promise;
  socket.destroy();
  await aborted.promise;
});

/** Creates a contract with one operation per path. */
function contractWithPaths(name: string, ...paths: string[]) {
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

function respondWithName(name: string): RequestListener {
  return (_, response) => void response.end(name);
}

/** Starts services with these listeners and a gateway over them. Returns the gateway's origin. */
async function startGateway(
  services: Record<string, RequestListener>,
  more: Record<string, string> = {},
): Promise<string> {
  const addresses = { ...more };
  for (const [name, listener] of Object.entries(services)) {
    const { port, close } = await listen(listener, 0, '127.0.0.1');
    closing.push(() => close(0));
    addresses[name] = `http://127.0.0.1:${port}`;
  }
  const all = gateway({ contracts: [books, loans], apiPrefix: '/api', addresses, onError: () => {} });
  const { port, close } = await listen(all, 0, '127.0.0.1');
  closing.unshift(() => close(0));
  return `http://127.0.0.1:${port}`;
}

/** Sends a request with headers that `fetch` does not allow. */
async function sendRequest(origin: string, path: string, headers: Record<string, string>) {
  const outgoing = request(origin + path, { headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  response.setEncoding('utf8');
  let text = '';
  for await (const part of response) text += part;
  return { headers: response.headers, text };
}
