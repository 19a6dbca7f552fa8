/** Tests `pds listen`: the installed program forwards real events, and a receiver verifies them. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import {
  addMember,
  publishDocument,
  type ReceivedRequest,
  tcpProxy,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { createPdsFixture, type PdsFixture } from './pds-fixture.ts';

let pds: PdsFixture;
let receiver: WebhookReceiver;

beforeAll(async () => {
  [pds, receiver] = await Promise.all([createPdsFixture(), webhookReceiver()]);
});
afterAll(async () => {
  await Promise.all([pds?.close(), receiver?.close()]);
});

const countListeners = () => pds.app.db.collection('webhook_listeners').countDocuments();

/** Starts `pds listen` and waits for its first line. */
async function startListening(args: readonly string[], env: Record<string, string>) {
  const running = pds.start(['listen', ...args], { env });
  const secret = await until('the secret', async () => {
    const { stderr } = running.printed();
    return /signing secret is (.+)\. Press/.exec(stderr)?.[1];
  });
  return { running, secret };
}

const verify = (secret: string, { headers, body }: ReceivedRequest) =>
  new Verifier(secret).verify(body, headers as Record<string, string>);

test('events are verified, forwarded with ordinary signatures, and printed', async () => {
  const { admin, env } = await pds.createAdmin();
  const { running, secret } = await startListening(['--forward-to', receiver.urlFor('local')], env);
  const { id } = await publishDocument(pds.app, admin.key, { title: 'Closing the till' });
  const [request] = await until('the event', async () => {
    const found = receiver.requestsTo('local');
    return found.length > 0 && found;
  });
  if (!request) throw new Error('There is no request');
  expect(verify(secret, request)).toMatchObject({
    event_type: 'document.published',
    data: { document: { id } },
  });
  expect(request.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-event': 'document.published',
    'x-service-attempt': '1',
  });
  await until('the line of the event', async () => running.printed().stdout.includes('→ 204'));
  expect(running.printed().stdout).toMatch(
    new RegExp(`^\\S+Z  document.published  ${id} "Closing the till"  → 204 in \\d+ ms\n$`),
  );
  await until('the confirmation', async () => {
    const events = pds.app.db.collection('webhook_listener_events');
    return (await events.countDocuments({ organization_id: admin.organizationId })) === 0;
  });
  running.stop('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect(await countListeners()).toBe(0);
});

test('another secret signs, types are selected, and a failure is shown', async () => {
  const { admin, env } = await pds.createAdmin();
  const own = `whsec_${Buffer.from('a secret that the receiver knows').toString('base64')}`;
  receiver.respondWith(() => 500);
  const args = ['--json', '--event', 'document.published', '--forward-to', receiver.urlFor('own')];
  const { running } = await startListening(args, { ...env, PDS_WEBHOOK_SECRET: own });
  await addMember(pds.app, admin.key);
  await publishDocument(pds.app, admin.key);
  const line = await until(
    'the line of the event',
    async () => /^.+(?=\n)/.exec(running.printed().stdout)?.[0],
  );
  expect(JSON.parse(line)).toEqual({
    event: expect.objectContaining({ event_type: 'document.published' }),
    forwarded: { status: 500, duration_ms: expect.any(Number) },
  });
  const requests = receiver.requestsTo('own');
  expect(requests.map((request) => verify(own, request))).toEqual([JSON.parse(line).event]);
  running.stop('SIGTERM');
  await running.ended;
  receiver.respondWith();
});

test('events during a broken connection are forwarded after it', async () => {
  const { admin, env } = await pds.createAdmin();
  const proxy = await tcpProxy(pds.app.origin);
  try {
    const args = ['--event', 'document.published', '--forward-to', receiver.urlFor('later')];
    const { running } = await startListening(args, { ...env, PDS_URL: proxy.url });
    const path = Buffer.from('/webhooks/listeners/');
    proxy.cutAfter(path, 1_000);
    proxy.resetAll();
    const { id } = await publishDocument(pds.app, admin.key);
    await until('an error', async () => running.printed().stderr.includes('Trying again.'));
    proxy.cutAfter(path, 0);
    const [request] = await until('the event', async () => {
      const found = receiver.requestsTo('later');
      return found.length > 0 && found;
    });
    expect(JSON.parse(request?.body ?? '').data.document.id).toBe(id);
    running.stop('SIGINT');
    await running.ended;
    expect(receiver.requestsTo('later')).toHaveLength(1);
  } finally {
    await proxy.close();
  }
});

test.each([
  [['--forward-to', 'localhost:3000'], {}, '--forward-to cannot be'],
  [[], { PDS_WEBHOOK_SECRET: 'secret' }, 'PDS_WEBHOOK_SECRET'],
])('wrong settings are explained: %j %j', async (args, more, message) => {
  const { env } = await pds.createAdmin();
  const { code, stderr } = await pds.run(['listen', ...args], { env: { ...env, ...more } });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
