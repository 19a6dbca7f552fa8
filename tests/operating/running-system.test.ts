/** Dashboards and alerts over a system that runs, works and is then broken: what is drawn has numbers, what breaks is told. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { amqpBus, topologyOf } from '#libs/events';
import { freePorts, type MongoServers, ownMongo, ownRabbit, type RabbitBroker, until } from '#libs/testing';
import { faster } from '../../scripts/operating/pace.ts';
import { rules } from '../../scripts/operating/rules.ts';
import { contracts } from '../../services/contracts.ts';
import { type Receiver, receiver } from '../../services/webhook-delivery/testing/receiver.ts';
import { runDemo } from '../demo.ts';
import { localSettings } from '../five-processes.ts';
import { ended, type KeptProgram, kept, runScript } from '../programs.ts';
import { type Prometheus, prometheus } from './prometheus.ts';

const dashboards = new URL('../../charts/platform/dashboards/', import.meta.url);
const told = new Set<string>();
let folder: string;
let mongo: MongoServers;
let rabbit: RabbitBroker;
let run: KeptProgram;
let origin: string;
let watching: Prometheus | undefined;
const receivers: Receiver[] = [];

beforeAll(async () => {
  // a minute and a half: the build machine has it
  if (!process.env.CI) {
    process.stderr.write('NOT TESTED: dashboards and alerts over a running system, which CI=true does.\n');
    return;
  }
  folder = await mkdtemp(join(tmpdir(), 'pds-operating-'));
  [mongo, rabbit] = await Promise.all([ownMongo(), ownRabbit()]);
  const [port, managementPort] = await freePorts(2);
  origin = `http://127.0.0.1:${port}`;
  const environment = {
    ...localSettings,
    ...{ HOST: '127.0.0.1', PORT: `${port}`, MANAGEMENT_PORT: `${managementPort}`, AMQP_URL: rabbit.url },
    ...{
      MONGODB_URI: mongo.uri.replace('/?', '/operating?'),
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
    ...{ REQUESTS_PER_MINUTE: '0', REGISTRATIONS_PER_HOUR: '0', LOGINS_PER_MINUTE: '0' },
    ...{ WEBHOOK_TIMEOUT_SECONDS: '1', WEBHOOK_RETRY_SECONDS: '0.1,0.1', EXPORT_WAITING: '0' },
  };
  const launch = () => runScript('../services/all.ts', [], environment);
  run = await kept({ name: 'all', launch, ready: /^\{.*"msg":"Ready"\}$/m });
  // a night in a minute
  watching = await prometheus({ targets: [`127.0.0.1:${managementPort}`], rules: rules(faster(60, 5)) });
}, 400_000);
afterAll(async () => {
  await watching?.stop();
  if (run) await ended(run);
  for (const one of receivers) await one.close();
  await Promise.all([mongo?.stop(), rabbit?.stop()]);
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Asks the API and gives its JSON; whatever fails is an answer too. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function ask(method: string, path: string, as = '', body?: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/api/v1${path}`, {
    method,
    headers,
    body: JSON.stringify(body) ?? null,
  });
  return answer.json().catch(() => undefined);
}

async function registered(): Promise<{ access_token: string; member: object }> {
  const unique = randomBytes(4).toString('hex');
  const password = randomBytes(18).toString('base64url');
  const person = { name: 'Ada', email: `ada-${unique}@example.com`, password };
  return ask('POST', '/auth/register', '', { organization_name: `Ada ${unique}`, ...person });
}

const admin = async () => (await registered()).access_token;

async function published(as: string): Promise<string> {
  const { id } = await ask('POST', '/documents', as, { title: 'SOP' });
  await ask('POST', `/documents/${id}/publish`, as);
  return id;
}

async function hook(as: string, answering?: Parameters<typeof receiver>[0]): Promise<void> {
  const there = await receiver(answering);
  receivers.push(there);
  const body = { name: 'Hook', url: there.url, event_types: ['document.published'] };
  expect(await ask('POST', '/webhooks', as, body)).toHaveProperty('id');
}

/** The story that a dashboard tells: the demo, and the rest of a document's life. */
async function story(): Promise<void> {
  expect(await runDemo(origin, folder)).toMatchObject({ code: 0 });
  const { access_token: as, member } = await registered();
  const id = await published(as);
  await ask('POST', `/documents/${id}/share-token`, as);
  await ask('POST', `/documents/${id}/archive`, as);
  // the only event that documents hears
  await said('member.removed', { member });
  await ask('DELETE', `/documents/${(await ask('POST', '/documents', as, { title: 'Draft' })).id}`, as);
}

/** Says an event as its owner would; one that does not fit its schema is given up by whoever hears it. */
async function said(type: string, data: object): Promise<void> {
  const bus = amqpBus({
    ...{ url: new Secret(rabbit.url), calmMs: 0, trouble: () => undefined },
    topology: topologyOf(contracts),
  });
  try {
    await until('the bus', async () => bus.up);
    const of = { id: newId(), type, organization_id: newId(), actor_id: null };
    await bus.publish({ ...of, occurred_at: new Date().toISOString(), data });
  } finally {
    await bus.close();
  }
}

/** Waits until an alert fires; until then `again` is done once in a while. */
async function tells(names: string[], again: () => unknown = () => undefined): Promise<void> {
  await until(
    `${names.join(', ')} told`,
    async () => {
      again();
      for (const [name, summary] of (await watching?.firing()) ?? []) {
        // how Prometheus writes a summary that it could not fill in
        expect(summary).not.toMatch(/error expanding|no value/);
        told.add(name);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      return names.every((name) => told.has(name));
    },
    45_000,
  ).catch(async (error) => {
    const [up] = (await watching?.query('scrape_duration_seconds')) ?? [];
    throw new Error(`${error.message}; only ${[...told].join(', ')}; a scrape took ${up?.value} s`);
  });
}

test('every line of every panel has a number after the demo', async () => {
  if (!watching) return;
  const there = watching;
  // until the first scrape nobody seems to be there
  await until('quiet', async () => (await there.firing()).size === 0, 20_000);
  // what grows needs a before and an after
  await story();
  await until('a first look', async () => (await there.query('export_duration_seconds_count')).length > 1);
  await story();
  const lines = [];
  for (const file of await readdir(dashboards)) {
    const { panels } = JSON.parse(await readFile(new URL(file, dashboards), 'utf8'));
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets) lines.push({ of: `${file}: ${title}`, expr });
  }
  expect(lines.length).toBeGreaterThan(80);
  let empty = lines;
  const look = async () => {
    const found = await Promise.all(
      empty.map(({ expr }) => there.query(expr.replaceAll('$__rate_interval', '1m'))),
    );
    empty = empty.filter((_, at) => !found[at]?.some(({ value }) => Number.isFinite(value)));
    return empty.length === 0;
  };
  await until('numbers', look, 20_000).catch(() => undefined);
  expect(empty).toEqual([]);
}, 120_000);

test('what fails is told: receivers that hang, refuse and queues that are full, a poisonous event', async () => {
  if (!watching) return;
  const as = await admin();
  for (let made = 0; made < 6; made += 1) await hook(as, () => new Promise(() => {}));
  await hook(as, () => 500);
  await said('document.published', { no: 'document' });
  const file = async () =>
    ask('GET', `/documents/${await published(as)}/export/word?template_id=default`, as);
  const files = () => Array.from({ length: 6 }, file);
  await tells(['BreakerStorm', 'DeadLetters', 'ExportRefused', 'DeliverySuccessBurnsFast'], files);
}, 120_000);

test('what is away is told: RabbitMQ, MongoDB, and at last the services themselves', async () => {
  if (!watching) return;
  const as = await admin();
  await rabbit.settle();
  await rabbit.kill();
  await published(as);
  await tells(['RabbitMQAway', 'OutboxBehind']);
  await rabbit.start();
  await mongo.members[0]?.kill();
  const many = () =>
    Promise.all(Array.from({ length: 20 }, () => ask('GET', '/me', as).catch(() => undefined)));
  await tells(['MongoDBAway', 'AvailabilityBurnsFast'], many);
  await ended(run);
  await tells(['ServiceGone']);
}, 180_000);
