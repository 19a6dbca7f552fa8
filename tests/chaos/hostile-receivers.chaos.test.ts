/** F13, F15 and F16: POSTs to receivers that are slow, send too much, use old TLS or have a blocked address. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { listenLocally, slowness } from '#libs/testing';
import { parseRange } from '../../services/webhook-delivery/rules/target.ts';
import { selfSigned } from '../../services/webhook-delivery/testing/certificate.ts';
import { createSender, type Sender } from '../../services/webhook-delivery/transport/sender.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** Longer than any request here takes, except to a receiver that never completes its response. */
const timeoutMs = 60_000 * slowness;
const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };

function openSender(partial: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const newSender = createSender({
    policy: local,
    timeoutMs,
    resolve: async () => ['127.0.0.1'],
    ...partial,
  });
  open.push(newSender);
  return newSender;
}

/** Starts a server that calls `act` at the first bytes of a connection. Returns its port and its connection count. */
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
  const port = await listenLocally(server);
  open.push({ close: () => server.close() });
  return { port, connections: () => connections };
}

const post = (origin: string) => ({ url: `${origin}/`, headers: {}, body: '{}' });
const sendTo = async (act: (socket: Socket) => void, options: { timeoutMs?: number } = {}) => {
  const { port } = await startHostileServer(act);
  return openSender(options).send(post(`http://127.0.0.1:${port}`));
};
const head = (lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');

describe('F13: a slow or endless response ends', () => {
  test('slow headers are a timeout without a status', async () => {
    const drip = (socket: Socket) => {
      const letters = [...head(['X-Slow: '.padEnd(200, 'x')])];
      const dripping = setInterval(() => socket.write(letters.shift() ?? ''), 50);
      socket.on('close', () => clearInterval(dripping));
    };
    // the headers take more than 10 s; a timeout that every byte restarts would never end the request
    const outcome = await sendTo(drip, { timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
  });

  test('only a small part of a 100 MB body is read', async () => {
    let written = 0;
    const outcome = await sendTo((socket) => {
      const piece = Buffer.alloc(1024 * 1024);
      socket.write(head(['Content-Length: 104857600']));
      const more = () => {
        while (written < 100 && !socket.destroyed && socket.write(piece)) written += 1;
      };
      socket.on('drain', more);
      more();
    });
    expect(outcome).toMatchObject({ http_status: 200, error: null });
    expect(written).toBeLessThan(50);
  });

  test('1 MB of headers fails, in one header or in many', async () => {
    for (const lines of [
      [`X-Long: ${'x'.repeat(1024 * 1024)}`],
      Array(16_384).fill(`X-Many: ${'x'.repeat(54)}`),
    ]) {
      const outcome = await sendTo((socket) => socket.write(head(lines)));
      expect(outcome).toMatchObject({ http_status: null, error: 'headers_too_large' });
    }
  });

  test('a truncated body does not change the outcome', async () => {
    const outcome = await sendTo((socket) => {
      socket.write(`${head(['Content-Length: 1000'])}begun`, () => socket.destroy());
    });
    expect(outcome).toMatchObject({ http_status: 200, error: null });
  });
});

test('F15: a receiver limited to TLS 1.0 is rejected before any data is sent', async () => {
  const certificate = selfSigned(
    'localhost',
    new Date(Date.now() - 86_400_000),
    new Date(Date.now() + 86_400_000),
  );
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const server = createTlsServer({ ...certificate, ...old });
  server.on('tlsClientError', () => undefined);
  let handshakes = 0;
  server.on('secureConnection', () => {
    handshakes += 1;
  });
  const { port, connections } = await startHostileServer(() => undefined, server);
  const outcome = await openSender({ ca: certificate.cert }).send(post(`https://localhost:${port}`));
  expect(outcome).toMatchObject({ http_status: null, error: expect.stringMatching(/protocol|version/) });
  expect([connections(), handshakes]).toEqual([1, 0]);
});

describe('F16: no connection to a blocked address is opened', () => {
  test.each([
    ['plain', 'https://127.0.0.1'],
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
    ['a host name', 'https://inside.example'],
    ['a host name with a trailing dot', 'https://localhost.'],
  ])('%s', async (_, origin) => {
    const { connections, port } = await startHostileServer(() => undefined);
    expect(await openSender({ policy: strict }).send(post(`${origin}:${port}`))).toMatchObject({
      http_status: null,
    });
    expect(connections()).toBe(0);
  });

  const range = parseRange('127.0.0.2/32');
  const allowedNeighbor = { allowLoopback: false, allowedRanges: range ? [range] : [] };

  test('next to an allowed address, in either family', async () => {
    const { connections, port } = await startHostileServer(() => undefined);
    for (const addresses of [
      ['127.0.0.2', '127.0.0.1'],
      ['127.0.0.2', '::1'],
      ['::1', '127.0.0.2'],
    ]) {
      const outcome = await openSender({ policy: allowedNeighbor, resolve: async () => addresses }).send(
        post(`https://mixed.example:${port}`),
      );
      expect(outcome).toMatchObject({ error: 'address_refused' });
    }
    expect(connections()).toBe(0);
  });

  // the route to public addresses looks the name up first, then the route to allowed addresses
  test.each([
    [1, 0],
    [2, 1],
    [3, 1],
  ])('with DNS rebinding after %i lookups', async (before, expected) => {
    const blocked = await startHostileServer(() => undefined);
    // the allowed neighbor listens at the same port and ends the TLS handshake
    const allowed = createServer((socket) => socket.destroy());
    await once(allowed.listen(blocked.port, '127.0.0.2'), 'listening');
    open.push({ close: () => allowed.close() });
    let connections = 0;
    allowed.on('connection', () => {
      connections += 1;
    });
    let lookups = 0;
    const resolve = async () => {
      lookups += 1;
      return [lookups > before ? '127.0.0.1' : '127.0.0.2'];
    };
    const outcome = await openSender({ policy: allowedNeighbor, resolve }).send(
      post(`https://rebound.example:${blocked.port}`),
    );
    expect(outcome).toMatchObject({ http_status: null });
    expect([connections, blocked.connections()]).toEqual([expected, 0]);
  });
});
