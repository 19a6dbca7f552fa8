/** Tests that attempts to connect end, and leave nothing behind at the signal that cancels them. */
import { getEventListeners } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { until } from '../../testing/until.ts';
import { openConnection } from './connection.ts';

let closing: AbortController;
let server: Server;
let sockets: Socket[];
let onSocket: (socket: Socket) => void;
beforeEach(async () => {
  closing = new AbortController();
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

function connect() {
  // a server with a port has this kind of address
  const { port } = server.address() as AddressInfo;
  return openConnection({
    url: new Secret(`amqp://127.0.0.1:${port}`),
    name: 'test',
    prepare: async () => undefined,
    onError: () => undefined,
    signal: closing.signal,
  });
}
const countListeners = () => getEventListeners(closing.signal, 'abort').length;

test('failed attempts leave no listeners at the signal', async () => {
  onSocket = (socket) => socket.destroy();
  for (let count = 0; count < 10; count += 1) await expect(connect()).rejects.toThrow();
  expect([sockets.length, countListeners()]).toEqual([10, 0]);
});

test('the signal cancels an attempt to which the broker does not respond', async () => {
  onSocket = () => undefined;
  const attempt = connect();
  attempt.catch(() => undefined);
  await until('the connection', async () => sockets.length === 1);
  closing.abort(new Error('closing'));
  await expect(attempt).rejects.toThrow('closing');
  await expect(connect()).rejects.toThrow('closing');
  expect(countListeners()).toBe(0);
});
