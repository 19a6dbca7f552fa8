/** Tests the rotation of ENCRYPTION_KEYS: the services keep working while all secrets are encrypted again. */
import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId, Secret } from '#libs/contract';
import { type RunningServices, start } from '#libs/service';
import { createKeyring } from '#libs/store';
import {
  apiClient,
  createWebhook,
  must,
  type Person,
  publishDocument,
  register,
  type TestRabbit,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { services } from '../services/testing/services.ts';
import { runScript } from './programs.ts';
import { type ServiceUsers, serviceUsers } from './service-users.ts';

const newKey = () => randomBytes(32).toString('base64');
const getKeyId = (key: string) => createKeyring(new Secret(key)).newest;
const [old, current] = [newKey(), newKey()];
const running = new Map<string, RunningServices>();

let rabbit: TestRabbit;
let users: ServiceUsers;
let administrator: mongoose.mongo.MongoClient;
let hook: WebhookReceiver;

beforeAll(async () => {
  [rabbit, users, hook] = await Promise.all([testRabbit(), serviceUsers(), webhookReceiver()]);
  administrator = await mongoose.mongo.MongoClient.connect(users.administrator);
});

afterAll(async () => {
  for (const one of running.values()) await one.stop();
  await administrator?.close();
  await users?.stop();
  await rabbit?.stop();
  await hook?.close();
});

const prefix = `test-${randomBytes(4).toString('hex')}.`;

/** Restarts every service, one after the other, with the given keys. */
async function restart(...keys: string[]): Promise<void> {
  const startService = async (service: (typeof services)[number]) => {
    const { name } = service.contract;
    await running.get(name)?.stop();
    const environment = {
      ...{ AMQP_URL: rabbit.url, AMQP_PREFIX: prefix, HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
      ...{ LOG_LEVEL: 'silent', DRAIN_SECONDS: '2', ENCRYPTION_KEYS: keys.join(',') },
      ...(name === 'identity' && { DEFAULT_PLAN: 'scale', REGISTRATIONS_PER_HOUR: '0' }),
      ...(name === 'webhook-delivery' && { WEBHOOK_ALLOW_INSECURE_TARGETS: 'true' }),
      MONGODB_URI: users.getUri(name),
    };
    running.set(name, await start({ services: [service], contracts, apiPrefix, environment }));
  };
  // at the first start the services wait for each other's views
  if (running.size === 0) await Promise.all(services.map(startService));
  else for (const service of services) await startService(service);
}

/** Sends each request to the service that implements its path. */
const api = apiClient((path) => {
  const owner = /share-token|^\/embed/.test(path)
    ? 'sharing'
    : (/^\/(documents|webhook)/.exec(path)?.[1]?.replace('webhook', 'webhook-delivery') ?? 'identity');
  return `http://127.0.0.1:${running.get(owner)?.port}`;
});

const runReEncrypt = (args: string[], environment: Record<string, string>) =>
  runScript('../tools/admin/main.ts', ['re-encrypt', ...args], environment);

/** Runs the command for each service as the service's MongoDB user. Returns the exit codes and the output. */
async function reEncrypt(...keys: string[]): Promise<{ codes: (number | null)[]; text: string }> {
  const programs = contracts.map(({ name }) =>
    runReEncrypt([name], { MONGODB_URI: users.getUri(name), ENCRYPTION_KEYS: keys.join(',') }),
  );
  const codes = await Promise.all(programs.map(({ exited }) => exited));
  return { codes, text: programs.map(({ printed }) => printed()).join('') };
}

/** The number of values in the whole database that are encrypted with a key. */
async function countSealedWith(key: string): Promise<number> {
  const db = administrator.db();
  const all = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  const names = all.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
  const rows = await Promise.all(names.map((name) => db.collection(name).find().toArray()));
  return JSON.stringify(rows).split(`"${getKeyId(key)}.`).length - 1;
}

async function createLink(as: string) {
  const { id } = await publishDocument(api, as, { title: 'Closing the till' });
  const path = `/documents/${id}/share-token`;
  const repeated = { as, headers: { 'idempotency-key': newId() } };
  return { path, repeated, link: await must(api, 'POST', path, repeated) };
}

test('the encryption key rotates without downtime or lost data', async () => {
  await restart(old);
  const ada: Person = await register(api);
  const link = await createLink(ada.key);
  const { id, secret: first } = await createWebhook(api, ada.key, hook.url);
  const { secret: second } = (await api.request('POST', `/webhooks/${id}/rotate-secret`, { as: ada.key }))
    .body;
  // a signing key, a share token, a stored response and two secrets of a webhook
  expect(await countSealedWith(old)).toBe(5);

  await restart(old, current);
  await restart(current, old);
  let isOver = false;
  const visitor = (async () => {
    const links = [];
    while (!isOver) links.push(await createLink(ada.key));
    return links;
  })();
  const { codes, text } = await reEncrypt(current, old);
  isOver = true;
  const later = await visitor;
  expect([codes, text]).toEqual([
    contracts.map(() => 0),
    expect.stringContaining('signing_keys.sealed_private'),
  ]);
  expect(text).toMatch(/^webhook-delivery +webhook_configs\.secrets\.sealed +2 re-encrypted$/m);
  const audited = text.split('\n').filter((line) => line.includes('"audit":true'));
  expect(audited.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      ...{ event: 'secrets.reencrypt', actor_id: 'operator', outcome: 'done' },
      ...{ collection: 'webhook_configs', field: 'secrets.sealed', count: 2 },
    }),
  );
  expect(await countSealedWith(old)).toBe(0);

  await restart(current);
  expect((await api.request('GET', '/me', { as: ada.token })).status).toBe(200);
  const login = { email: ada.email, password: ada.password };
  expect((await api.request('POST', '/auth/login', { body: login })).status).toBe(200);
  for (const { path, link: expected, repeated } of [link, ...later]) {
    expect((await api.request('GET', path, { as: ada.key })).body).toEqual(expected);
    expect((await api.request('GET', `/embed/${expected.org_slug}/${expected.token}`)).body.title).toBe(
      'Closing the till',
    );
    const again = await api.request('POST', path, repeated);
    expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', expected]);
  }
  const before = hook.received.length;
  await createLink(ada.key);
  const delivered = await until('a delivery', async () => hook.received[before]);
  const signatures = [second, first].map(
    (secret) => `sha256=${createHmac('sha256', secret).update(delivered.body).digest('hex')}`,
  );
  expect(delivered.headers['x-service-signature']).toBe(signatures.join(','));
});

test('re-encrypt exits with 1 and changes nothing if a key is missing', async () => {
  const count = await countSealedWith(current);
  const { codes, text } = await reEncrypt(newKey());
  const failed = contracts.map(({ name }) => name).filter((_, at) => codes[at] === 1);
  expect(failed.toSorted()).toEqual(['identity', 'sharing', 'webhook-delivery']);
  expect(text).toContain(`No key ${getKeyId(current)} in ENCRYPTION_KEYS`);
  expect(await countSealedWith(current)).toBe(count);
});

test('re-encrypt cannot change other services and explains wrong arguments', async () => {
  const settings = { MONGODB_URI: users.getUri('export'), ENCRYPTION_KEYS: current };
  const foreign = runReEncrypt(['identity'], settings);
  expect(await foreign.exited).toBe(1);
  expect(foreign.printed()).toContain('not authorized');
  const unnamed = runReEncrypt(['unknown'], settings);
  expect(await unnamed.exited).toBe(1);
  expect(unnamed.printed()).toContain('Services: ');
  const unkeyed = runReEncrypt([], { ...settings, ENCRYPTION_KEYS: 'short' });
  expect(await unkeyed.exited).toBe(1);
  expect(unkeyed.printed()).toMatch(/^ENCRYPTION_KEYS must hold[^\n]*\n$/);
});
