/** Tests the client of the benchmark's overload rows against servers that write every byte themselves. */
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { closeServer, listenLocally } from '#libs/testing';
import { createRepeatingClient, type RepeatingClient } from '../bench/repeating-client.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
let client: RepeatingClient | undefined;
let server: Server | undefined;

afterEach(async () => {
  client?.close();
  if (server) await closeServer(server);
});

/** Starts a server that calls `answer` for each request of a connection. */
async function connectTo(
  answer: (socket: Socket, request: string) => void,
  connections = 1,
): Promise<RepeatingClient> {
  server = createServer((socket) => {
    socket.on('data', (bytes) => answer(socket, bytes.toString()));
  });
  const origin = `http://127.0.0.1:${await listenLocally(server)}`;
  client = await createRepeatingClient({ origin, path: '/lists?limit=50', key: 'pds_key', connections });
  return client;
}

test('a request has the path and the key, and the answer its status', async () => {
  const requests: string[] = [];
  const { send } = await connectTo((socket, request) => {
    requests.push(request);
    socket.write(requests.length === 1 ? ok : 'HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n');
  });
  expect((await send()).status).toBe(200);
  expect((await send()).status).toBe(503);
  expect(requests[0]).toMatch(/^GET \/lists\?limit=50 HTTP\/1\.1\r\nhost: [\d.:]+\r\n/);
  expect(requests[1]).toContain('authorization: Bearer pds_key\r\n');
});

test('an answer is complete with its last byte, however it is split', async () => {
  const { send } = await connectTo(async (socket) => {
    socket.setNoDelay(true);
    for (const byte of ok) {
      socket.write(byte);
      await new Promise((done) => setImmediate(done));
    }
  });
  for (let sent = 0; sent < 3; sent += 1) expect((await send()).status).toBe(200);
});

test('requests beyond the connections wait for one, in order', async () => {
  const sockets: Socket[] = [];
  const { send } = await connectTo((socket) => sockets.push(socket), 1);
  const done: number[] = [];
  const all = [1, 2, 3].map((n) => send().then(() => done.push(n)));
  for (const n of [1, 2, 3]) {
    while (sockets.length < n) await new Promise((tick) => setImmediate(tick));
    expect([sockets.length, done.length]).toEqual([n, n - 1]);
    sockets[n - 1]?.write(ok);
    await all[n - 1];
  }
  expect(done).toEqual([1, 2, 3]);
});

test('a response without Content-Length is an error', async () => {
  const { send } = await connectTo((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  await expect(send()).rejects.toThrow('no Content-Length');
});

test('a connection that ends is an error of this and the next request', async () => {
  const { send } = await connectTo((socket) => socket.end());
  for (let sent = 0; sent < 2; sent += 1) await expect(send()).rejects.toThrow('The connection was closed');
});
