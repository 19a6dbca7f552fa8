/** Sends more bytes than the memory holds to a process in 512 MB: it survives, and others are served meanwhile. */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, register, slowness, until } from '#libs/testing';
import { limitMemory, type MemoryLimit } from '../memory-limit.ts';
import { type ServiceProcess, startServiceProcess } from '../service-process.ts';

const mebibyte = 2 ** 20;
const timeout = 300_000 * slowness;

let limit: MemoryLimit | undefined;
let service: ServiceProcess;
let ada: Person;
let bob: Person;
let documentPath: string;

beforeAll(async () => {
  limit = limitMemory(512);
  if (!limit)
    process.stderr.write('NOT TESTED: bodies within 512 MB of memory, which needs root on Linux.\n');
  service = await startServiceProcess(limit?.wrapper);
  [ada, bob] = [await register(service.api), await register(service.api)];
  const { body } = await service.api.request('POST', '/documents', {
    as: ada.token,
    body: { title: 'Full' },
  });
  documentPath = `/documents/${body.id}`;
}, timeout);
afterAll(async () => {
  await service?.stop();
  await limit?.remove();
});

/** Requests whose bodies do not end. */
interface Flood {
  name: string;
  count: number;
  method: 'POST' | 'PUT';
  /** Below the prefix of the API. */
  getPath(): string;
  isAnonymous?: boolean;
  /** How many bytes of each body are sent. */
  bytes: number;
  /** The statuses of the responses that must arrive. Those without one wait for the rest of their body. */
  expected: { status: number; atLeast: number };
}

type Head = Pick<Flood, 'method' | 'getPath' | 'isAnonymous'>;

const floods: Flood[] = [
  {
    name: '450 logins of 1 MiB',
    ...{ count: 450, method: 'POST', isAnonymous: true, bytes: mebibyte },
    getPath: () => '/auth/login',
    expected: { status: 413, atLeast: 450 },
  },
  {
    name: '14 trees of 31 MiB for unknown documents',
    ...{ count: 14, method: 'PUT', bytes: 31 * mebibyte },
    getPath: () => `/documents/${randomUUID()}/nodes`,
    expected: { status: 404, atLeast: 14 },
  },
  {
    name: '40 trees of 31 MiB for a document',
    ...{ count: 40, method: 'PUT', bytes: 31 * mebibyte },
    getPath: () => `${documentPath}/nodes`,
    // by default, BODY_MEMORY_MB holds one of them
    expected: { status: 503, atLeast: 39 },
  },
];

test.each(floods.map((flood) => [flood.name, flood] as const))(
  '%s that do not end leave the service available',
  async (_, { count, bytes, expected, ...flood }) => {
    const chunk = Buffer.alloc(bytes, ' ');
    const clients = Array.from({ length: count }, () => sendUnfinished(flood, chunk));
    try {
      const countAnswers = () => clients.filter(({ status }) => status === expected.status).length;
      await until(
        `${expected.atLeast} responses ${expected.status}`,
        async () => countAnswers() >= expected.atLeast,
      );
      await expectService();
      expect(clients.map(({ status = expected.status }) => status)).toEqual(
        clients.map(() => expected.status),
      );
    } finally {
      for (const { socket } of clients) socket.destroy();
    }
  },
  timeout,
);

const headers = { 'content-type': 'application/json' };
const paragraph = { type: 'paragraph', content: [{ type: 'text', text: 'Count the cash. '.repeat(170) }] };
const node = { node_type: 'section', title: 'Cash', content: { type: 'doc', content: [paragraph] } };

/** Writes lists within lists, which take much memory. */
const writeLists = (count: number) =>
  `{"nodes":[${`${'['.repeat(100)}${']'.repeat(100)},`.repeat(count / 100)}1]}`;

test.each([
  ['trees of 28 MB', () => JSON.stringify({ nodes: Array.from({ length: 9_900 }, () => node) })],
  ['lists of 4.9 million lists', () => writeLists(4_900_000)],
  ['lists of ten million objects', () => `{"nodes":[${'{},'.repeat(10 * mebibyte)}{}]}`],
  ['lists of sixteen million numbers', () => `{"nodes":[${'1,'.repeat(15.5 * mebibyte)}1]}`],
])(
  'three %s at once leave the service available',
  async (_, create) => {
    const body = create();
    const put = () => service.api.request('PUT', `${documentPath}/nodes`, { as: ada.token, body, headers });
    const replies = Promise.all([put(), put(), put()]);
    await expectService();
    // the worker may need too much memory or be ended: then nothing is stored
    for (const { status } of await replies) expect([200, 400, 413, 503]).toContain(status);
    await expectService();
  },
  timeout,
);

test(
  'the worker takes at most a fifth of the memory',
  async () => {
    const put = (body: string) =>
      service.api.request('PUT', `${documentPath}/nodes`, { as: ada.token, body, headers });
    expect((await put(writeLists(500_000))).status).toBe(400);
    expect((await put(writeLists(3_000_000))).status).toBe(limit ? 413 : 400);
  },
  timeout,
);

/** Expects that the process still runs and serves others. */
async function expectService(): Promise<void> {
  expect((await service.api.request('GET', '/documents', { as: bob.token })).status).toBe(200);
  expect(service.program.process.exitCode ?? service.program.process.signalCode).toBeNull();
}

/** Sends the head of a request and part of its body. `status` is that of the response, once it has arrived. */
function sendUnfinished({ method, getPath, isAnonymous }: Head, chunk: Buffer) {
  const socket = connect(service.port, '127.0.0.1');
  const client: { socket: Socket; status?: number } = { socket };
  const head = [
    `${method} /api/v1${getPath()} HTTP/1.1`,
    'host: x',
    ...(isAnonymous ? [] : [`authorization: Bearer ${ada.token}`]),
    'content-type: application/json',
    `content-length: ${chunk.length + 1}`,
  ];
  socket.on('data', (data) => {
    client.status ??= Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1]);
  });
  // the service may end the connection
  socket.on('error', () => undefined);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(chunk);
  return client;
}
