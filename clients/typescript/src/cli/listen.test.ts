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
function createEvent(id: string) {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const data = { message: 'test' };
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
      return send(['e1', 'e2', 'e3'].map(createEvent));
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
