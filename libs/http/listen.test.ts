/** Tests that an HTTP server accepts connections, also while it is busy, and stops accepting them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from '@jest/globals';
import { type HttpListener, listen } from './listen.ts';

const host = '127.0.0.1';
const listening: HttpListener[] = [];
afterEach(async () => {
  for (const one of listening.splice(0)) await one.close(0);
});

async function start(app: Parameters<typeof listen>[0] = (_request, response) => response.end(), port = 0) {
  const started = await listen(app, port, host);
  listening.push(started);
  return started;
}

/** A thread that opens connections and sends a request over each, also while this thread is blocked. */
const clientThread = `
const { connect } = require('node:net');
const { workerData: { port, count, sent } } = require('node:worker_threads');
for (let i = 0; i < count; i += 1)
  connect(port, '${host}').on('error', () => {}).write('GET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n', () => {
    Atomics.add(sent, 0, 1);
    Atomics.notify(sent, 0);
  });
`;

test('a port that is in use is an error, and remains usable', async () => {
  const { port } = await start();
  await expect(listen(() => {}, port, host)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect((await fetch(`http://${host}:${port}`)).status).toBe(200);
});

test('many connections are accepted in each turn of the event loop', async () => {
  const count = 64;
  let served = 0;
  const { port } = await start((_request, response) => {
    served += 1;
    response.end();
  });
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(clientThread, { eval: true, workerData: { port, count, sent } });
  try {
    await once(worker, 'online');
    // the kernel takes the connections and the requests while this thread handles nothing
    for (let open = 0; open < count; open = Atomics.load(sent, 0))
      if (Atomics.wait(sent, 0, open, 60_000) === 'timed-out') break;
    expect(Atomics.load(sent, 0)).toBe(count);
    let turns = 0;
    for (; served < count && turns < 1_000; turns += 1) await nextTurn();
    expect(served).toBe(count);
    // with one connection in each turn, there would be at least 64
    if (process.platform === 'linux') expect(turns).toBeLessThan(32);
  } finally {
    await worker.terminate();
  }
});

test('no socket accepts connections after the close', async () => {
  const { port, close } = await start();
  await close(0);
  const codes = Array.from({ length: 32 }, async () => {
    const error = await once(connect(port, host), 'connect').catch((reason) => reason);
    return error.code;
  });
  expect(new Set(await Promise.all(codes))).toEqual(new Set(['ECONNREFUSED']));
});

test('the close waits for all requests, whichever socket accepted them', async () => {
  const pending = new Map<string, () => void>();
  const { port, close } = await start(({ url = '' }, response) => {
    pending.set(url, () => response.end('late'));
  });
  const urls = Array.from({ length: 32 }, (_, at) => `/${at}`);
  const received = urls.map((url) => {
    const socket = connect(port, host);
    socket.write(`GET ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return text(socket);
  });
  while (pending.size < urls.length) await nextTurn();
  let isClosed = false;
  const closed = close(60_000).then(() => {
    isClosed = true;
  });
  for (const [at, url] of urls.entries()) {
    expect(isClosed).toBe(false);
    pending.get(url)?.();
    expect(await received[at]).toMatch(/late/);
  }
  await closed;
});
