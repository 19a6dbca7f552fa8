/** F13 to F16: receivers that drip, flood, lead astray and lie about who they are, each against one POST or one delivery. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseRange } from '../../services/webhook-delivery/rules/target.ts';
import { type Sender, sender } from '../../services/webhook-delivery/sending.ts';
import { selfSigned } from '../../services/webhook-delivery/testing/certificate.ts';
import { listen } from '../../services/webhook-delivery/testing/receiver.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const timeoutMs = 1_000;
const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };

function createSender(partial: Partial<Parameters<typeof sender>[0]> = {}): Sender {
  const made = sender({ policy: local, timeoutMs, resolve: async () => ['127.0.0.1'], ...partial });
  open.push(made);
  return made;
}

/** A server that does as it likes with whoever connects, from when the first bytes come; gives its port and how many have connected. */
async function startHostileServer(act: (socket: Socket) => void, server: Server = createServer()) {
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.on(
    server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection',
    (socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => act(socket));
    },
  );
  const port = await listen(server);
  open.push({ close: () => server.close() });
  return { port, connections: () => connections };
}

const post = (origin: string) => ({ url: `${origin}/`, headers: {}, body: '{}' });
const sendTo = async (act: (socket: Socket) => void) => {
  const { port } = await startHostileServer(act);
  const since = performance.now();
  const outcome = await createSender().send(post(`http://127.0.0.1:${port}`));
  return { ...outcome, tookMs: performance.now() - since };
};
const head = (lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');

describe('F13: a receiver has its time and no more, and nothing of its answer is kept', () => {
  /** The time and as much again: the machine may be busy. */
  const inTimeMs = 2 * timeoutMs;

  test('headers that drip are no answer', async () => {
    const { tookMs, ...outcome } = await sendTo((socket) => {
      const letters = [...head(['X-Slow: '.padEnd(200, 'x')])];
      const dripping = setInterval(() => socket.write(letters.shift() ?? ''), 50);
      socket.on('close', () => clearInterval(dripping));
    });
    expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
    expect(tookMs).toBeLessThan(inTimeMs);
  });

  test('of 100 MB little is read', async () => {
    let written = 0;
    const { tookMs, ...outcome } = await sendTo((socket) => {
      const piece = Buffer.alloc(1024 * 1024);
      socket.write(head(['Content-Length: 104857600']));
      const more = () => {
        while (written < 100 && !socket.destroyed && socket.write(piece)) written += 1;
      };
      socket.on('drain', more);
      more();
    });
    expect(outcome).toMatchObject({ http_status: 200, error: null });
    expect(tookMs).toBeLessThan(inTimeMs);
    expect(written).toBeLessThan(50);
  });

  test('1 MB of headers, in one or in many, is a failure', async () => {
    for (const lines of [
      [`X-Long: ${'x'.repeat(1024 * 1024)}`],
      Array(16_384).fill(`X-Many: ${'x'.repeat(54)}`),
    ]) {
      const outcome = await sendTo((socket) => socket.write(head(lines)));
      expect(outcome).toMatchObject({ http_status: null, error: 'und_err_headers_overflow' });
    }
  });

  test('a body that breaks off does not change what its status said', async () => {
    const outcome = await sendTo((socket) => {
      socket.write(`${head(['Content-Length: 1000'])}begun`, () => socket.destroy());
    });
    expect(outcome).toMatchObject({ http_status: 200, error: null });
  });
});

test('F15: a receiver that speaks no TLS newer than 1.0 is refused, before it is told anything', async () => {
  const certificate = selfSigned(
    'localhost',
    new Date(Date.now() - 86_400_000),
    new Date(Date.now() + 86_400_000),
  );
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const server = createTlsServer({ ...certificate, ...old });
  server.on('tlsClientError', () => undefined);
  let heard = 0;
  server.on('secureConnection', () => {
    heard += 1;
  });
  const { port, connections } = await startHostileServer(() => undefined, server);
  const outcome = await createSender({ ca: certificate.cert }).send(post(`https://localhost:${port}`));
  expect(outcome).toMatchObject({ http_status: null, error: expect.stringMatching(/protocol|version/) });
  expect([connections(), heard]).toEqual([1, 0]);
});

describe('F16: nobody connects to a forbidden listener', () => {
  test.each([
    ['as it is', 'https://127.0.0.1'],
    ['decimal', 'https://2130706433'],
    ['hexadecimal', 'https://0x7f000001'],
    ['octal', 'https://0177.0.0.1'],
    ['short', 'https://127.1'],
    ['nothing', 'https://0.0.0.0'],
    ['IPv6', 'https://[::1]'],
    ['IPv4-mapped', 'https://[::ffff:127.0.0.1]'],
    ['IPv4-compatible', 'https://[::127.0.0.1]'],
    ['NAT64', 'https://[64:ff9b::127.0.0.1]'],
    ['6to4', 'https://[2002:7f00:1::]'],
    ['by a name', 'https://inside.example'],
    ['by a name with a dot', 'https://localhost.'],
  ])('%s', async (_, origin) => {
    const { connections, port } = await startHostileServer(() => undefined);
    expect(await createSender({ policy: strict }).send(post(`${origin}:${port}`))).toMatchObject({
      http_status: null,
    });
    expect(connections()).toBe(0);
  });

  const range = parseRange('127.0.0.2/32');
  const beside = { allowLoopback: false, allowedRanges: range ? [range] : [] };

  test('beside an allowed address, in either family', async () => {
    const { connections, port } = await startHostileServer(() => undefined);
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.2', '::1'],
      ['::1', '127.0.0.2'],
    ]) {
      const outcome = await createSender({ policy: beside, resolve: async () => addresses }).send(
        post(`https://mixed.example:${port}`),
      );
      expect(outcome).toMatchObject({ error: 'address_refused' });
    }
    expect(connections()).toBe(0);
  });

  test('by a name that is another one as soon as it was looked at', async () => {
    const { connections, port } = await startHostileServer(() => undefined);
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.1']];
    const resolve = async () => answers.shift() ?? [];
    const outcome = await createSender({ policy: beside, resolve }).send(
      post(`https://rebound.example:${port}`),
    );
    // where it was allowed to go nobody listens
    expect(outcome).toMatchObject({ http_status: null, error: 'econnrefused' });
    expect(connections()).toBe(0);
  });
});
