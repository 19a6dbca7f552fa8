/** Tests the HTTP server with clients that misbehave: they repeat headers, or do not read. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
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

test('a repeated Host or Authorization header is 400', async () => {
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
  const http = await httpFixture([handle(ping, async () => undefined)]);
  const ask = (headers: string) =>
    http.raw(`GET /api/v1/ping HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
  expect(await ask('host: x\r\nauthorization: Bearer good\r\n')).toMatch(/^HTTP\/1.1 204 /);
  for (const headers of [
    'host: x\r\nHost: y\r\nauthorization: Bearer good\r\n',
    'host: x\r\nauthorization: Bearer good\r\nAuthorization: Bearer good\r\n',
  ])
    expect(await ask(headers)).toMatch(/^HTTP\/1.1 400 [\s\S]*only once/);
  await http.listening.close(0);
});
