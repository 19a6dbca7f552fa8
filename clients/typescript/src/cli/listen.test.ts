/** Tests that `pds listen` forwards all events of a request, however slow the receiver is. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable, Writable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import { signWith } from './forward.ts';
import { runCommandLine } from './run.ts';

const secret = `whsec_${Buffer.from('a secret of the listener').toString('base64')}`;
const systemNow = Date.now;
let servers: Server[] = [];

afterEach(async () => {
  Date.now = systemNow;
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
});

async function serve(respond: RequestListener): Promise<string> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An event as the service returns it: signed at the time of the response. */
function createEvent(id: string, message = 'test') {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const data = { message };
  const body = JSON.stringify({ id, event_type: 'webhook.test', timestamp: '', organization_id: 'o', data });
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  return signWith(secret, { event_id: id, event_type: 'webhook.test', headers, body } as never);
}

test('events are forwarded although their signatures become old', async () => {
  const controller = new AbortController();
  const forwarded: unknown[] = [];
  const limits: (string | null)[] = [];
  let [now, confirmed] = [Date.now(), ''];
  const receiver = await serve(({ headers }, response) => {
    now += 200_000;
    Date.now = () => now;
    forwarded.push(headers['webhook-id']);
    response.writeHead(204).end();
  });
  const PDS_URL = await serve(async (request, response) => {
    const { method, url = '' } = request;
    const send = (value: unknown) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (method === 'DELETE') return void response.writeHead(204).end();
    if (url.endsWith('/listeners')) return send({ id: 'l', secret });
    if (!url.endsWith('/confirm')) {
      limits.push(new URL(url, 'http://x').searchParams.get('limit'));
      return send(['e1', 'e2', 'e3'].map((id) => createEvent(id)));
    }
    confirmed = Buffer.concat(await request.toArray()).toString();
    response.writeHead(204).end();
    controller.abort();
  });
  const output = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const code = await runCommandLine(['listen', '--forward-to', receiver], {
    ...{ stdin: Readable.from([]), stdout: output(), stderr: output(), cwd: '.' },
    ...{ env: { PDS_URL, PDS_KEY: 'pds_key' }, signal: controller.signal },
  });
  expect([code, forwarded]).toEqual([130, ['e1', 'e2', 'e3']]);
  expect(JSON.parse(confirmed)).toEqual({ event_ids: ['e1', 'e2', 'e3'] });
  expect(limits[0]).toBe('10');
});

/** Runs `pds listen --json` with a service that sends one event. Ends it after the third request for events. */
async function listenAsJson(message: string, write: (text: string) => Error | undefined) {
  const controller = new AbortController();
  const methods: unknown[] = [];
  let requests = 0;
  const PDS_URL = await serve((request, response) => {
    const { method, url = '' } = request;
    const send = (value: unknown) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    methods.push(method);
    if (url.endsWith('/listeners')) return send({ id: 'l', secret });
    if (method === 'DELETE' || url.endsWith('/confirm')) return void response.writeHead(204).end();
    requests += 1;
    if (requests === 3) controller.abort();
    send(requests === 1 ? [createEvent('e1', message)] : []);
  });
  const stdout = new Writable({
    autoDestroy: false,
    write: (chunk, _encoding, done) => done(write(String(chunk))),
  });
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const code = await runCommandLine(['listen', '--json'], {
    ...{ stdin: Readable.from([]), stdout, stderr, cwd: '.' },
    ...{ env: { PDS_URL, PDS_KEY: 'pds_key' }, signal: controller.signal },
  });
  return { code, methods };
}

test('events are printed as JSON without a change', async () => {
  const message = 'a \u2066b\u2069 \u009b c';
  let printed = '';
  await listenAsJson(message, (text) => {
    printed += text;
    return undefined;
  });
  expect(printed).toMatch(/^.+\n$/);
  expect(JSON.parse(printed).event.data).toEqual({ message });
});

test('the command ends when nobody reads the events any more', async () => {
  const { code, methods } = await listenAsJson('test', () =>
    Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
  );
  expect([code, methods.at(-1)]).toEqual([0, 'DELETE']);
});
