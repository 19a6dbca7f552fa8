/** Tests that a client gets the response to a body that is refused before it has arrived. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listenLocally } from '#libs/testing';
import { endResponse } from './early-response.ts';

const mib = 2 ** 20;
const server = createServer((request, response) => {
  response.writeHead(503, { 'Content-Length': 4 });
  // the first limit ends before any test, so that only the other one applies
  const limits =
    request.url === '/bytes' ? { maxBytes: mib, maxMs: 600_000 } : { maxBytes: 64 * mib, maxMs: 100 };
  endResponse(response, 'full', request.url === '/' ? undefined : limits);
});
let port: number;

beforeAll(async () => {
  port = await listenLocally(server);
});
afterAll(() => {
  server.closeAllConnections();
  return new Promise((done) => server.close(done));
});

/** Sends the head of a request with a body of this length. */
function sendHead(path: string, length: number) {
  const socket = connect(port, '127.0.0.1');
  socket.write(`PUT ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`);
  return socket;
}

test('a client that sends 20 MB before it reads gets the response', async () => {
  const socket = sendHead('/', 20 * mib);
  const piece = Buffer.alloc(mib);
  for (let sent = 0; sent < 20; sent += 1) {
    // rejects if the connection is reset
    await new Promise<void>((resolve, reject) =>
      socket.write(piece, (error) => (error ? reject(error) : resolve())),
    );
  }
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 503 .*\r\n\r\nfull$/s);
});

test('the response is sent at once, before the body has arrived', async () => {
  const socket = sendHead('/', 20 * mib);
  const [data] = await once(socket, 'data');
  expect(String(data)).toMatch(/\r\n\r\nfull$/);
  socket.destroy();
});

test('the connection closes if the rest of the body is too large', async () => {
  const socket = sendHead('/bytes', 64 * mib);
  socket.on('error', () => undefined);
  const piece = Buffer.alloc(mib);
  const send = () => void (socket.destroyed || socket.write(piece, send));
  send();
  await new Promise((resolve) => socket.on('close', resolve));
  expect(socket.bytesWritten).toBeLessThan(64 * mib);
});

test('the connection closes if the rest of the body does not arrive', async () => {
  const socket = sendHead('/time', 64 * mib);
  // ends when the server closes the connection
  expect(await text(socket)).toMatch(/\r\n\r\nfull$/);
});

test('a connection whose body has arrived stays open', async () => {
  const socket = connect(port, '127.0.0.1');
  for (let count = 0; count < 2; count += 1) {
    socket.write(`PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: ${mib}\r\n\r\n`);
    socket.write(Buffer.alloc(mib));
    const [data] = await once(socket, 'data');
    expect(String(data)).toMatch(/\r\n\r\nfull$/);
  }
  socket.destroy();
});
