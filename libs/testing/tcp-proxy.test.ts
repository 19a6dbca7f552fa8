/** Tests the proxy that injects network faults. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { closeServer, listenLocally } from './ports.ts';
import { tcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

const countTimers = () => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

test('closing the proxy ends a transfer with limited bandwidth', async () => {
  const received: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('data', (bytes: Buffer) => received.push(bytes)));
  });
  const proxy = await tcpProxy(`tcp://127.0.0.1:${await listenLocally(server)}`);
  const timers = countTimers();
  proxy.setToxics({ sliceBytes: 100, bytesPerSecond: 1 });
  const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  client.write(Buffer.alloc(1_000));
  await until('the first slice', async () => received.length > 0);
  expect(countTimers()).toBeGreaterThan(timers);
  await proxy.close();
  await Promise.all([client, ...sockets].map((socket) => socket.closed || once(socket, 'close')));
  await closeServer(server);
  await until('the pause to end', async () => countTimers() <= timers);
  expect(Buffer.concat(received)).toHaveLength(100);
});
