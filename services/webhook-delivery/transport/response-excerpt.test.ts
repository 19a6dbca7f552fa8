/** Tests what the event log keeps of responses, with real servers: text, bytes, headers and private networks. */
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { connectProxy, listenLocally, until, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { parseRange } from '../rules/target.ts';
import { selfSigned } from '../testing/certificate.ts';
import { createSender, type SendResult } from './sender.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0)) await item.close();
});

type SenderOptions = Parameters<typeof createSender>[0];

async function send(url: string, options: Partial<SenderOptions> = {}): Promise<SendResult> {
  const policy = { allowLoopback: true, allowedRanges: [] };
  const sender = createSender({ policy, timeoutMs: 10_000, resolve: async () => ['127.0.0.1'], ...options });
  open.push(sender);
  return sender.send({ url, headers: {}, body: '{}' });
}

/** Sends a request to a server that answers with these bytes and then acts on the connection. */
async function sendToRaw(
  response: Buffer | string,
  then: (socket: Socket) => void = () => undefined,
  options: Partial<SenderOptions> = {},
): Promise<SendResult> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(response, () => then(socket)));
  });
  const port = await listenLocally(server);
  try {
    return await send(`http://127.0.0.1:${port}/`, options);
  } finally {
    server.close();
  }
}

function toResponse(body: Buffer | string, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body);
  const head = ['HTTP/1.1 200 OK', `Content-Length: ${bytes.length}`, ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), bytes]);
}

describe('the body of a response', () => {
  test('a short text is kept as a whole', async () => {
    const { logged } = await sendToRaw(toResponse('Größe: 1\u0000'));
    expect(logged.response).toEqual({
      headers: {},
      body: 'Größe: 1\u0000',
      encoding: 'utf-8',
      truncated: false,
    });
  });

  test('the first KiB of a long text is kept, without a cut character', async () => {
    const { logged } = await sendToRaw(toResponse(`x${'ä'.repeat(10_000)}`));
    const body = `x${'ä'.repeat(511)}`;
    expect(logged.response).toMatchObject({ body, encoding: 'utf-8', truncated: true });
  });

  test('a text of exactly one KiB is not truncated', async () => {
    const { logged } = await sendToRaw(toResponse('x'.repeat(1024)));
    expect(logged.response).toMatchObject({ body: 'x'.repeat(1024), truncated: false });
  });

  test.each([
    ['binary', Buffer.from([0xff, 0xd8, 0x00, 0x10])],
    ['Latin-1', Buffer.from('Größe', 'latin1')],
    ['a cut character at the end', Buffer.from('ä').subarray(0, 1)],
  ])('a body that is not UTF-8 is kept as base64: %s', async (_, bytes) => {
    const { logged } = await sendToRaw(toResponse(bytes));
    const body = bytes.toString('base64');
    expect(logged.response).toMatchObject({ body, encoding: 'base64', truncated: false });
  });

  test('no body is an empty text', async () => {
    const { logged } = await sendToRaw('HTTP/1.1 204 No Content\r\n\r\n');
    expect(logged.response).toEqual({ headers: {}, body: '', encoding: 'utf-8', truncated: false });
  });

  test('a body that breaks off is kept, and the status decides the outcome', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
    const result = await sendToRaw(`${head}hello`, (socket) => socket.destroy());
    expect(result).toMatchObject({
      http_status: 200,
      error: null,
      logged: { response: { body: 'hello', truncated: true } },
    });
  });

  test('a body that is too slow is kept as far as it arrived', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
    // on a busy machine, the headers may arrive after the timeout
    const result = await until('a response whose headers arrive in time', async () => {
      const sent = await sendToRaw(`${head}hello`, undefined, { timeoutMs: 300 });
      return sent.http_status !== null && sent;
    });
    expect(result.logged.response).toMatchObject({ body: 'hello', truncated: true });
  });
});

test('a few headers are kept, shortened, and no cookie', async () => {
  const headers = [
    'Content-Type: text/plain',
    'Set-Cookie: session=1',
    `X-Request-Id: ${'r'.repeat(300)}`,
    'Server: a',
    'Server: b',
    'X-Other: 1',
  ];
  const { logged } = await sendToRaw(toResponse('', headers));
  expect(logged.response?.headers).toEqual({
    'content-type': 'text/plain',
    'x-request-id': 'r'.repeat(200),
    server: 'a,b',
  });
});

test('without a response, nothing is kept', async () => {
  const { logged } = await sendToRaw('', (socket) => socket.destroy());
  expect(logged).toEqual({});
});

describe('a response that does not come from a public address', () => {
  const day = 86_400_000;
  const certificate = selfSigned('receiver.example', new Date(Date.now() - day), new Date(Date.now() + day));
  const range = parseRange('127.0.0.0/8');
  if (!range) throw new Error('The range is invalid');
  const options = { policy: { allowLoopback: false, allowedRanges: [range] }, ca: certificate.cert };

  async function startReceiver(): Promise<WebhookReceiver> {
    const reply = { status: 500, headers: { 'x-request-id': 'internal' }, body: 'internal' };
    const receiver = await webhookReceiver(() => reply, { tls: certificate });
    open.push(receiver);
    return receiver;
  }

  test('is withheld if an allowed private network sent it, after one request', async () => {
    const receiver = await startReceiver();
    const result = await send(`https://receiver.example:${receiver.port}/`, options);
    expect(result).toMatchObject({ http_status: 500, logged: { response_withheld: true } });
    expect(JSON.stringify(result)).not.toContain('internal');
    expect(receiver.received).toHaveLength(1);
  });

  test('is withheld behind a proxy, which resolves the name', async () => {
    const receiver = await startReceiver();
    const proxy = await connectProxy();
    open.push(proxy);
    const behindProxy = { ...options, proxy: new Secret(proxy.url) };
    const result = await send(`https://receiver.example:${receiver.port}/`, behindProxy);
    expect(result).toMatchObject({ http_status: 500, logged: { response_withheld: true } });
    expect(JSON.stringify(result)).not.toContain('internal');
  });
});
