/** Tests the HTTP server with clients that misbehave: they repeat headers, or do not read. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { nothing, operation } from '#libs/contract';
import { until } from '#libs/testing';
import { httpFixture, insider } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';
import { type HttpListener, listen } from './listen.ts';

let listening: HttpListener | undefined;
afterEach(() => listening?.close(0));

const start = async (app: RequestListener, stalledMs = 300) => {
  listening = await listen(app, 0, '127.0.0.1', { stalledMs });
  return listening.port;
};

/** Sends a request and reads nothing. */
function sendOnly(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  socket.pause();
  return socket;
}

test('a client that does not read its response loses the connection', async () => {
  let hasClosed = false;
  const port = await start((_request, response) => {
    response.once('close', () => {
      hasClosed = true;
    });
    response.end(Buffer.alloc(64 * 2 ** 20));
  });
  const socket = sendOnly(port);
  await until('the server closes the connection', async () => hasClosed);
  socket.destroy();
});

test('a client that reads slowly gets its whole response', async () => {
  const bytes = 16 * 2 ** 20;
  const port = await start((_request, response) => response.end(Buffer.alloc(bytes)), 3_000);
  const socket = sendOnly(port);
  let received = 0;
  socket.on('data', (chunk) => {
    received += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  socket.resume();
  await until('the response is complete', async () => received > bytes);
  socket.destroy();
});

test('a client that waits for a long response keeps the connection', async () => {
  const port = await start((_request, response) => void setTimeout(() => response.end('late'), 1_000));
  const socket = sendOnly(port);
  const [answer] = await once(socket.resume(), 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 [\s\S]*late/);
  socket.destroy();
});

describe('a request whose rest does not come', () => {
  const timeout = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';
  const start = 'POST / HTTP/1.1\r\nhost: x\r\n';
  const complete = `${start}content-length: 0\r\n\r\n`;
  const chunked = `${start}transfer-encoding: chunked\r\n\r\n`;
  const ignore: RequestListener = (request) => void request.on('error', () => {}).resume();

  /** Sends a text, and the rest as soon as there is a part of a response. Returns what the server sent. */
  const send = async (text: string, { rest = '', app = ignore } = {}) => {
    listening = await listen(app, 0, '127.0.0.1', { requestMs: 200 });
    const socket = connect(listening.port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.once('data', () => socket.write(rest));
    // the server may close the connection before it has read everything
    socket.on('error', () => {});
    socket.write(text);
    await once(socket, 'close');
    return received;
  };

  test.each([
    ['a part of the body', `${start}content-length: 9\r\n\r\nabc`],
    ['a part of the headers', start],
  ])('%s gets a 408 without a body', async (_name, text) => {
    expect(await send(text)).toBe(timeout);
  });

  test('a broken chunk gets a 400', async () => {
    expect(await send(`${chunked}xyz\r\n`)).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
  });

  test.each([
    ['a connection without any request', ''],
    ['a broken request after a complete one', `${complete}?\r\n\r\n`],
    ['a broken chunk of a second request', `${complete}${chunked}xyz\r\n`],
  ])('%s is only closed', async (_name, text) => {
    expect(await send(text)).toBe('');
  });

  test.each<[string, RequestListener]>([
    [
      'the start of a response',
      (request, response) => {
        ignore(request, response);
        response.write('begun');
      },
    ],
    ['an early response', (_request, response) => void response.writeHead(413).end('early')],
  ])('a broken chunk after %s gets no second response', async (_name, app) => {
    const received = await send(chunked, { rest: 'xyz\r\n', app });
    expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });
});

describe('a connection with several requests', () => {
  const sendAll = async (count: number, respond: RequestListener) => {
    let started = 0;
    const port = await start((request, response) => {
      started += 1;
      respond(request, response);
    });
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', () => {});
    const last = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    socket.write(`${'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count - 1)}${last}`);
    await once(socket, 'close');
    return { started, responses: received.split('HTTP/1.1 200').length - 1 };
  };

  test('gets a response to each of 16 requests at once', async () => {
    const respond: RequestListener = (_request, response) => setTimeout(() => response.end('ok'), 20);
    expect(await sendAll(16, respond)).toEqual({ started: 16, responses: 16 });
  });

  test('gets more than 16 responses one after the other', async () => {
    const socket = connect(await start((_request, response) => response.end('ok')), '127.0.0.1');
    for (let sent = 0; sent < 40; sent += 1) {
      socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    }
    socket.destroy();
  });

  test('is closed when more than 16 wait for a response', async () => {
    const { started, responses } = await sendAll(1_000, () => {});
    expect([started, responses]).toEqual([16, 0]);
  });
});

describe('requests that are not valid HTTP', () => {
  const ask = async (port: number, request: string) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    // the server may close the connection before it has read everything
    socket.on('error', () => {});
    socket.write(request);
    await once(socket, 'close');
    const [head = '', body = ''] = received.split('\r\n\r\n');
    return { head, body };
  };

  test('headers of more than 16 KiB are 431 with a problem', async () => {
    const port = await start((_request, response) => response.end('ok'));
    const header = `X-Long: ${'x'.repeat(20_000)}`;
    const { head, body } = await ask(port, `GET / HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
    expect(head).toMatch(/^HTTP\/1.1 431 Request Header Fields Too Large\r\n/);
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain(`Content-Length: ${body.length}`);
    const { request_id, ...problem } = JSON.parse(body);
    expect(problem).toMatchObject({ status: 431, code: 'headers_too_large', detail: expect.any(String) });
    expect(head).toContain(`X-Request-Id: ${request_id}`);
  });

  test('what is not HTTP is 400 with a problem', async () => {
    const port = await start((_request, response) => response.end('ok'));
    const { head, body } = await ask(port, 'HELLO\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('a response that has begun is not mixed with another', async () => {
    const port = await start((_request, response) => void response.write('begun'));
    const { body } = await ask(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\nHELLO\r\n\r\n');
    expect(body).not.toContain('problem');
  });
});

const ping = operation({
  id: 'ping',
  method: 'get',
  path: '/ping',
  summary: '',
  access: insider,
  status: 204,
  returns: nothing,
  problems: [],
});

test.each([
  ['0.0.0.0/0', '203.0.113.9'],
  ['::/0', '127.0.0.1'],
  ['10.0.0.0/8', '127.0.0.1'],
])('with the trusted proxies %s the address is %s', async (network, address) => {
  const addresses: string[] = [];
  const see = operation({ ...ping, id: 'see', path: '/see' });
  const http = await httpFixture([handle(see, async ({ call }) => void addresses.push(call.address))], {
    trustedProxies: [network],
  });
  await http.ask('GET', '/api/v1/see', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  await http.listening.close(0);
  expect(addresses).toEqual([address]);
});

test('a repeated Host or Authorization header is 400', async () => {
  const http = await httpFixture([handle(ping, async () => undefined)]);
  const ask = (headers: string) =>
    http.raw(`GET /api/v1/ping HTTP/1.1\r\n${headers}connection: close\r\n\r\n`);
  expect(await ask('host: x\r\nauthorization: Bearer good\r\n')).toMatch(/^HTTP\/1.1 204 /);
  for (const headers of [
    'host: x\r\nHost: y\r\nauthorization: Bearer good\r\n',
    'host: x\r\nauthorization: Bearer good\r\nAuthorization: Bearer good\r\n',
  ])
    expect(await ask(headers)).toMatch(/^HTTP\/1.1 400 [\s\S]*only once/);
  expect(http.errors).toEqual([]);
  await http.listening.close(0);
});

test('a request without Host is 400 with a problem', async () => {
  const http = await httpFixture([handle(ping, async () => undefined)]);
  const ask = (version: string) =>
    http.raw(`GET /api/v1/ping HTTP/${version}\r\nauthorization: Bearer good\r\nconnection: close\r\n\r\n`);
  const rejected = await ask('1.1');
  expect(rejected).toMatch(/^HTTP\/1.1 400 [\s\S]*X-Request-Id: [\s\S]*"code":"invalid_request"/i);
  expect(await ask('1.0')).toMatch(/^HTTP\/1.1 204 /);
  await http.listening.close(0);
});

test('an unknown expectation is ignored', async () => {
  const http = await httpFixture([handle(ping, async () => undefined)]);
  const headers = 'host: x\r\nexpect: foo\r\nauthorization: Bearer good\r\nconnection: close';
  expect(await http.raw(`GET /api/v1/ping HTTP/1.1\r\n${headers}\r\n\r\n`)).toMatch(/^HTTP\/1.1 204 /);
  await http.listening.close(0);
});
