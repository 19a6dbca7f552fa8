/** Tests the HTTP server with clients that misbehave: they repeat headers, or do not read. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { nothing, operation } from '#libs/contract';
import { until } from '#libs/testing';
import { httpFixture, insider } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';
import { type HttpListener, listen } from './server.ts';

let listening: HttpListener | undefined;
afterEach(() => listening?.close(0));

const start = async (app: RequestListener, stalledMs = 300) => {
  listening = await listen(app, 0, '127.0.0.1', { stalledMs });
  return listening.port;
};

/** Sends a request and reads nothing. */
function sendOnly(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  socket.pause();
  return socket;
}

test('a client that does not read its response loses the connection', async () => {
  let hasClosed = false;
  const port = await start((_request, response) => {
    response.once('close', () => {
      hasClosed = true;
    });
    response.end(Buffer.alloc(64 * 2 ** 20));
  });
  const socket = sendOnly(port);
  await until('the server closes the connection', async () => hasClosed);
  socket.destroy();
});

test('a client that reads slowly gets its whole response', async () => {
  const bytes = 16 * 2 ** 20;
  const port = await start((_request, response) => response.end(Buffer.alloc(bytes)), 3_000);
  const socket = sendOnly(port);
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  socket.resume();
  await until('the response is complete', async () => received > bytes);
  socket.destroy();
});

test('a client that waits for a long response keeps the connection', async () => {
  const port = await start((_request, response) => void setTimeout(() => response.end('late'), 1_000));
  const socket = sendOnly(port);
  const [answer] = await once(socket.resume(), 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 [\s\S]*late/);
  socket.destroy();
});

describe('requests that are not valid HTTP', () => {
  const ask = async (port: number, request: string) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    // the server may close the connection before it has read everything
    socket.on('error', () => {});
    socket.write(request);
    await once(socket, 'close');
    const [head = '', body = ''] = received.split('\r\n\r\n');
    return { head, body };
  };

  test('headers of more than 16 KiB are 431 with a problem', async () => {
    const port = await start((_request, response) => response.end('ok'));
    const header = `X-Long: ${'x'.repeat(20_000)}`;
    const { head, body } = await ask(port, `GET / HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
    expect(head).toMatch(/^HTTP\/1.1 431 Request Header Fields Too Large\r\n/);
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain(`Content-Length: ${body.length}`);
    const { request_id, ...problem } = JSON.parse(body);
    expect(problem).toMatchObject({ status: 431, code: 'headers_too_large', detail: expect.any(String) });
    expect(head).toContain(`X-Request-Id: ${request_id}`);
  });

  test('what is not HTTP is 400 with a problem', async () => {
    const port = await start((_request, response) => response.end('ok'));
    const { head, body } = await ask(port, 'HELLO\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('a response that has begun is not mixed with another', async () => {
    const port = await start((_request, response) => void response.write('begun'));
    const { body } = await ask(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\nHELLO\r\n\r\n');
    expect(body).not.toContain('problem');
  });
});

const ping = operation({
  id: 'ping',
  method: 'get',
  path: '/ping',
  summary: '',
  access: insider,
  status: 204,
  returns: nothing,
  problems: [],
});

test.each([
  ['0.0.0.0/0', '203.0.113.9'],
  ['::/0', '127.0.0.1'],
  ['10.0.0.0/8', '127.0.0.1'],
])('with the trusted proxies %s the address is %s', async (network, address) => {
  const addresses: string[] = [];
  const see = operation({ ...ping, id: 'see', path: '/see' });
  const http = await httpFixture([handle(see, async ({ call }) => void addresses.push(call.address))], {
    trustedProxies: [network],
  });
  await http.ask('GET', '/api/v1/see', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  await http.listening.close(0);
  expect(addresses).toEqual([address]);
});

test('a repeated Host or Authorization header is 400', async () => {
  const http = await httpFixture([handle(ping, async () => undefined)]);
  const ask = (headers: string) =>
    http.raw(`GET /api/v1/ping HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
  expect(await ask('host: x\r\nauthorization: Bearer good\r\n')).toMatch(/^HTTP\/1.1 204 /);
  for (const headers of [
    'host: x\r\nHost: y\r\nauthorization: Bearer good\r\n',
    'host: x\r\nauthorization: Bearer good\r\nAuthorization: Bearer good\r\n',
  ])
    expect(await ask(headers)).toMatch(/^HTTP\/1.1 400 [\s\S]*only once/);
  expect(http.errors).toEqual([]);
  await http.listening.close(0);
});
