/** F13 and F23: receivers that use the whole time limit or send too much. Measures the memory of a process. */
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listenLocally, readMetric, type TestRabbit, testMongo, testRabbit, until } from '#libs/testing';
import { type System, startSystem } from './system.ts';
import { createTenant, publish } from './tenants.ts';
import { findDatabaseViolations } from './violations.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let rabbit: TestRabbit;
let running: System;
const servers: Server[] = [];

beforeAll(async () => {
  mongo = await testMongo();
  rabbit = await testRabbit();
  const settings = { WEBHOOK_RETRY_SCHEDULE_SECONDS: '600,1800' };
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, settings });
}, 400_000);
afterAll(async () => {
  await running?.stop();
  for (const one of servers) one.close();
  await rabbit?.stop();
  await mongo?.stop();
});

/** Starts a server that calls `act` at the first bytes of a connection. Returns its URL. */
async function startServer(act: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => act(socket));
  });
  servers.push(server);
  return `http://127.0.0.1:${await listenLocally(server)}/`;
}

const head = (lines: string[] = []) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
const after = (ms: number) => (socket: Socket) =>
  void setTimeout(() => socket.end(head(['Content-Length: 0'])), ms);

function flood(socket: Socket): void {
  const piece = Buffer.alloc(1024 * 1024);
  let written = 0;
  socket.write(head(['Content-Length: 104857600']));
  const more = () => {
    while (written < 100 && !socket.destroyed && socket.write(piece)) written += 1;
  };
  socket.on('drain', more);
  more();
}

function drip(socket: Socket): void {
  const letters = [...head([`X-Slow: ${'x'.repeat(15_000)}`])];
  const dripping = setInterval(() => socket.write(letters.shift() ?? ''), 100);
  socket.on('close', () => clearInterval(dripping));
}

test('F13: hostile receivers end by the timeout and take bounded memory', async () => {
  // 200 MB when decompressed
  const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024));
  const behaviours: [string, (socket: Socket) => void, number | null, string | null][] = [
    ['hangs', () => undefined, null, 'timeout'],
    ['sends slow headers', drip, null, 'timeout'],
    ['sends a slow body', (socket) => socket.write(`${head(['Content-Length: 9'])}x`), 200, null],
    ['sends 100 MB', flood, 200, null],
    [
      'sends a gzip bomb',
      (socket) => {
        socket.write(head(['Content-Encoding: gzip', `Content-Length: ${bomb.length}`]));
        socket.write(bomb);
      },
      200,
      null,
    ],
    [
      'sends 1 MB of headers',
      (socket) => socket.write(head([`X-Long: ${'x'.repeat(1024 * 1024)}`])),
      null,
      'headers_too_large',
    ],
    [
      'closes during its body',
      (socket) => socket.write(`${head(['Content-Length: 99'])}x`, () => socket.destroy()),
      200,
      null,
    ],
  ];
  const urls = await Promise.all(behaviours.map(([, act]) => startServer(act)));
  const tenant = await createTenant(running, urls);
  const [deliverer] = running.deliverers;
  const memory = () => readMetric(`${deliverer?.management}`, 'process_memory_rss_bytes');
  let peak = 0;
  const before = await memory();
  // four per endpoint, which is the limit, so all requests run at the same time
  for (let count = 0; count < 4; count += 1) await publish(running, tenant);
  const rows = () =>
    running.db.collection('webhook_deliveries').find({ organization_id: tenant.organizationId }).toArray();
  const log = await until(
    'the first attempts',
    async () => {
      peak = Math.max(peak, await memory());
      const found = await rows();
      return (
        found.length === 4 * behaviours.length && found.every((row) => row.duration_ms !== null) && found
      );
    },
    100_000,
  );
  for (const [at, [name, , http_status, error]] of behaviours.entries()) {
    const own = log.filter(({ config_id }) => config_id === tenant.hooks[at]?.id);
    expect([name, own.map((row) => [row.attempts, row.http_status, row.error])]).toEqual([
      name,
      Array(4).fill([1, http_status, error]),
    ]);
  }
  const grownMB = (peak - before) / 1024 / 1024;
  process.stderr.write(`F13: the process grew by ${Math.round(grownMB)} MB while it was offered 1.2 GB\n`);
  expect(grownMB).toBeLessThan(150);
  expect(await findDatabaseViolations(running.db)).toEqual([]);
}, 150_000);

test('F23: a webhook test waits until its timeout and reports failures', async () => {
  const closed = createServer();
  const refused = `http://127.0.0.1:${await listenLocally(closed)}/`;
  await new Promise((done) => closed.close(done));
  const urls = [
    await startServer(after(0.5 * running.deadlineMs)),
    await startServer(() => undefined),
    refused,
    'https://unknown.invalid/',
  ];
  const tenant = await createTenant(running, urls);
  const tests = tenant.hooks.map(({ id }) =>
    running.request('POST', `/webhooks/${id}/test`, { as: tenant.key }),
  );
  const results = (await Promise.all(tests)).map(({ status, body }) => ({ answered: status, ...body }));
  expect(results).toEqual([
    { answered: 200, status: 'delivered', http_status: 200 },
    { answered: 200, status: 'failed', http_status: null },
    { answered: 200, status: 'failed', http_status: null },
    { answered: 200, status: 'failed', http_status: null },
  ]);
  const log = await running.db
    .collection('webhook_deliveries')
    .find({ event_type: 'webhook.test' })
    .toArray();
  const errors = tenant.hooks.map(({ id }) => log.find(({ config_id }) => config_id === id)?.error);
  expect(errors).toEqual([null, 'timeout', 'econnrefused', 'name_not_resolved']);
  expect(await findDatabaseViolations(running.db)).toEqual([]);
});
