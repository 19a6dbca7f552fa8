/** Runs the receivers of examples/webhook-receiver against real deliveries, and against forged requests. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook as Signer } from 'standardwebhooks';
import {
  createWebhook,
  findTestProgram,
  freePorts,
  must,
  publishDocument,
  register,
  type TestApp,
  testApp,
  until,
} from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { services } from '../../services/testing/services.ts';
import { runOrThrow, type StartedProgram, start } from '../typescript-client/programs.ts';

const examples = new URL('../../examples/webhook-receiver/', import.meta.url).pathname;
const otherSecret = `whsec_${Buffer.from('the secret of another webhook').toString('base64')}`;

/** Finds the command of each receiver; undefined if its language is missing. */
const receivers: Record<string, () => Promise<[string, string[]] | undefined>> = {
  Node: async () => [process.execPath, [`${examples}receiver.mjs`]],
  async Python() {
    const python = await findTestProgram('python3', { from: 'python3', purpose: 'The receiver in Python' });
    return python ? [python, ['-B', `${examples}receiver.py`]] : undefined;
  },
  async Go() {
    const also = ['/usr/local/go/bin'];
    const go = await findTestProgram('go', { from: 'golang-go', purpose: 'The receiver in Go', also });
    if (!go) return undefined;
    const program = join(folder, 'receiver');
    const { HOME, GOCACHE } = process.env;
    const env = { HOME, GOTOOLCHAIN: 'local', ...(GOCACHE && { GOCACHE }) };
    await runOrThrow(go, ['build', '-o', program, `${examples}receiver.go`], { env });
    return [program, []];
  },
};

let app: TestApp;
let folder: string;
beforeAll(async () => {
  [app, folder] = await Promise.all([
    testApp({ services, contracts }),
    mkdtemp(join(tmpdir(), 'pds-receiver-')),
  ]);
});
afterAll(async () => {
  await app?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

test.each(Object.keys(receivers))(
  'the receiver in %s processes each event once and rejects forged ones',
  async (language) => {
    const command = await receivers[language]?.();
    if (!command) return;
    const [file, args] = command;
    const { code, stderr } = await start(file, args).ended;
    expect(stderr).toContain('Set WEBHOOK_SECRET');
    expect(code).not.toBe(0);

    const { key } = await register(app);
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}/`;
    const { secret } = await createWebhook(app, key, url);
    const receiver = start(file, args, { env: { WEBHOOK_SECRET: secret, PORT: String(port) } });
    try {
      await until('the receiver', async () => receiver.printed().stdout.includes(`Listening on ${url}`));
      await publishDocument(app, key, { title: 'Closing the till' });
      await expectLines(receiver, ['document.published Closing the till']);
      await redeliver(key);
      // a request that never ends and one that is cut do not stop the receiver
      const endless = await sendPart(port);
      (await sendPart(port)).destroy();
      await publishDocument(app, key, { title: 'Opening the till' });
      await expectLines(receiver, [
        'document.published Closing the till',
        'document.published Opening the till',
      ]);
      endless.destroy();
      await sendSigned(url, secret);
      await expectLines(receiver, [
        'document.published Closing the till',
        'document.published Opening the till',
        'document.published Signed here',
      ]);
      expect(receiver.printed().code).toBeNull();
    } finally {
      receiver.stop('SIGKILL');
      await receiver.ended;
    }
  },
  300_000,
);

/** Waits until the receiver has printed these events, and no others. */
async function expectLines(receiver: StartedProgram, events: string[]): Promise<void> {
  const read = () => receiver.printed().stdout.trim().split('\n').slice(1);
  await until(`the event ${events.at(-1)}`, async () => read().includes(events.at(-1) ?? ''));
  expect(read()).toEqual(events);
}

/** Sends the event in the log again, and waits until it is delivered. */
async function redeliver(key: string): Promise<void> {
  const [{ id }] = await must(app, 'GET', '/webhooks/events', { as: key });
  await until('the first delivery in the log', async () => {
    const { status } = await must(app, 'GET', `/webhooks/events/${id}`, { as: key });
    return status === 'delivered';
  });
  await must(app, 'POST', `/webhooks/events/${id}/redeliver`, { as: key });
  await until('the second delivery in the log', async () => {
    const entries = await must(app, 'GET', '/webhooks/events?status=delivered', { as: key });
    return entries.length === 2;
  });
}

/** Sends requests that are signed here: some are wrong, the last is right. */
async function sendSigned(url: string, secret: string): Promise<void> {
  const event = { event_type: 'document.published', data: { document: { title: 'Signed here' } } };
  const body = JSON.stringify({ id: 'event-1', ...event });
  const now = Date.now();
  const sign = (by: string, at = now) => ({
    'webhook-id': 'event-1',
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': new Signer(by).sign('event-1', new Date(at), body),
  });
  const signed = sign(secret);
  const send = async (headers: Record<string, string>, text = body) =>
    (await fetch(url, { method: 'POST', headers, body: text })).status;
  expect(await send(sign(otherSecret))).toBe(401);
  expect(await send(sign(secret, now - 301_000))).toBe(401);
  expect(await send(sign(secret, now + 360_000))).toBe(401);
  expect(await send(signed, `${body} `)).toBe(401);
  expect(await send({ ...signed, 'webhook-id': 'event-2' })).toBe(401);
  expect(await send({ ...signed, 'webhook-timestamp': '' })).toBe(401);
  expect(await send({})).toBe(401);
  expect((await fetch(url)).ok).toBe(false);
  const twoSignatures = `v1,AAAA ${signed['webhook-signature']}`;
  expect(await send({ ...signed, 'webhook-signature': twoSignatures })).toBe(204);
  expect(await send(signed)).toBe(204);
}

/** Sends a request without the end of its body. */
async function sendPart(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  return socket;
}
