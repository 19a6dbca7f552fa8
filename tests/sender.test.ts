/** Tests the sending thread of the benchmark: it sends what it gets, and a failure rejects instead of hanging. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { closeServer, listenLocally } from '#libs/testing';
import { type Sender, startSender } from '../bench/sender.ts';

let sender: Sender | undefined;
let server: Server | undefined;

afterEach(async () => {
  await sender?.close();
  if (server) await closeServer(server);
});

async function connectTo(respond: (request: IncomingMessage, response: ServerResponse) => unknown) {
  server = createServer(respond);
  sender = await startSender({ origin: `http://127.0.0.1:${await listenLocally(server)}`, key: 'pds_key' });
  return sender;
}

const get = { method: 'GET', path: '/lists' };

test('a request has its path, key, content type and body', async () => {
  const requests: unknown[] = [];
  const { send } = await connectTo(async (request, response) => {
    const { authorization, 'content-type': type } = request.headers;
    requests.push([request.method, request.url, authorization, type, await text(request)]);
    response.end();
  });
  await send({ method: 'POST', path: '/lists', type: 'text/csv', body: Buffer.from('a,b') });
  await send(get);
  expect(requests).toEqual([
    ['POST', '/lists', 'Bearer pds_key', 'text/csv', 'a,b'],
    ['GET', '/lists', 'Bearer pds_key', undefined, ''],
  ]);
});

test('a status outside 200 to 299 is an error', async () => {
  const { send } = await connectTo((_, response) => response.writeHead(503).end());
  await expect(send(get)).rejects.toThrow('GET /lists returned 503');
});

test('a connection that ends without a response is an error', async () => {
  const { send } = await connectTo((request) => request.socket.destroy());
  for (let sent = 0; sent < 2; sent += 1) await expect(send(get)).rejects.toThrow('socket hang up');
});

test('a response that ends too early is an error', async () => {
  const { send } = await connectTo((_, response) => {
    response.writeHead(200, { 'Content-Length': 10 });
    response.write('hello', () => response.destroy());
  });
  for (let sent = 0; sent < 2; sent += 1) await expect(send(get)).rejects.toThrow('aborted');
});
