/** Dashboards and alerts over a system that runs, works and is then broken: what is drawn has numbers, what breaks is told. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { alerts } from '../../scripts/monitoring/alerts.ts';
import { realTime } from '../../scripts/monitoring/time-scale.ts';
import { runDemo } from '../demo.ts';
import { stopProgram } from '../programs.ts';
import { type Customers, customers } from './customers.ts';
import { type MonitoringFixture, monitoringFixture } from './fixture.ts';

/** Alerts that no fault tells here, and why: `promtool` alone runs them, in cases.ts. */
const slowAlerts = {
  AvailabilityErrorBudgetBurnSlow: 'over a day, or three',
  LatencyErrorBudgetBurnSlow: 'over a day, or three',
  DeliverySuccessErrorBudgetBurnSlow: 'over a day, or three',
  DeliveryAgeErrorBudgetBurnSlow: 'over a day, or three',
};

const dashboards = new URL('../../charts/platform/dashboards/', import.meta.url);
let fixture: MonitoringFixture | undefined;
let users: Customers;

beforeAll(async () => {
  // two minutes: the build machine has them
  if (!process.env.CI) {
    process.stderr.write('NOT TESTED: dashboards and alerts over a running system, which CI=true does.\n');
    return;
  }
  fixture = await monitoringFixture();
  if (fixture) users = customers({ origin: fixture.origin, amqpUrl: fixture.rabbit.url });
}, 400_000);
afterAll(async () => {
  await fixture?.stop();
  await users?.close();
}, 60_000);

/** The story that a dashboard tells: the demo, and the rest of a document's life. */
async function useEveryFeature({ origin, folder }: MonitoringFixture): Promise<void> {
  const { request, register, publishDocument, publishEvents } = users;
  expect(await runDemo(origin, folder)).toMatchObject({ code: 0 });
  const { access_token: as, member } = await register();
  const id = await publishDocument(as);
  await request('POST', `/documents/${id}/share-token`, as);
  await request('POST', `/documents/${id}/archive`, as);
  // the only event that documents hears
  await publishEvents('member.removed', { member });
  await request(
    'DELETE',
    `/documents/${(await request('POST', '/documents', as, { title: 'Draft' })).id}`,
    as,
  );
}

test('every line of every panel has a number after the demo', async () => {
  if (!fixture) return;
  const { prometheus } = fixture;
  // until the first scrape nobody seems to be there
  await until('quiet', async () => (await prometheus.firing()).size === 0, 20_000);
  // what grows needs a before and an after: between them, somebody looks who sees the end of the first, too
  await useEveryFeature(fixture);
  const lastOnes = 'event_age_seconds_count{type=~"member.removed|document.deleted"}';
  await until('a look', async () => (await prometheus.query(lastOnes)).length > 1);
  const lines = [];
  for (const file of await readdir(dashboards)) {
    const { panels } = JSON.parse(await readFile(new URL(file, dashboards), 'utf8'));
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets) lines.push({ of: `${file}: ${title}`, expr });
  }
  expect(lines.length).toBeGreaterThan(80);
  let empty = lines;
  const look = async () => {
    await pause(500);
    const found = await Promise.all(
      empty.map(({ expr }) => prometheus.query(expr.replaceAll('$__rate_interval', '1m'))),
    );
    empty = empty.filter((_, at) => !found[at]?.some(({ value }) => Number.isFinite(value)));
    return empty.length === 0;
  };
  // at this pace what is five minutes elsewhere is five seconds: what began the story may be forgotten at its end
  await Promise.all([useEveryFeature(fixture), until('numbers', look, 60_000).catch(() => undefined)]);
  expect(empty).toEqual([]);
}, 120_000);

test('what is too slow is told: MongoDB for one service, a process that gets no processor, and a disk that fills', async () => {
  if (!fixture) return;
  const { mongo, secondExport, volume, expectAlerts } = fixture;
  const { request, register, publishEvents } = users;
  const { access_token: as, member } = await register();
  const slow = ['MongoDBSlow', 'MongoDBPoolFull', 'LatencyErrorBudgetBurnFast', 'EventConsumerLag'];
  try {
    await expectAlerts([...slow, 'EventLoopLag', 'DiskFilling'], {
      async fault() {
        volume.setFreeShare(0.15);
        const commands = ['find', 'insert', 'update', 'commitTransaction'];
        await mongo.ail({ commands, appName: 'webhook-delivery', blockMs: 700 });
        await publishEvents('member.joined', { member }, 1_400);
      },
      repeated: [
        () => pauseProcess(Number(secondExport.process.pid)),
        ...Array.from({ length: 100 }, () => () => request('GET', '/webhooks', as)),
      ],
    });
  } finally {
    await mongo.ail();
  }
}, 180_000);

/** A container that has used up its share of the processor stands still until the next one. A shell does it, so that nobody is left standing when this process is killed. */
async function pauseProcess(pid: number): Promise<void> {
  const standing = 'kill -STOP $0 && sleep 0.7; kill -CONT $0';
  await promisify(execFile)('/bin/sh', ['-c', standing, `${pid}`]);
}

test('what comes to no good end is told: receivers that hang, refuse or are slow, exports and events, a process that dies', async () => {
  if (!fixture) return;
  const { mongo, volume, secondExport, getSecondExportStart, expectAlerts } = fixture;
  const { request, registerAdmin, createWebhooks, publishEvents, publishDocument } = users;
  const [as, another] = [await registerAdmin(), await registerAdmin()];
  await createWebhooks(as, 6, () => new Promise(() => {}));
  await createWebhooks(as, 4, () => 500);
  const id = await publishDocument(another);
  let areSlow = true;
  await createWebhooks(another, 20, async () => {
    if (areSlow) await pause(1_000);
    return 204;
  });
  const body = { event_type: 'document.published' };
  let fired = 0;
  const fire = async () => {
    // enough, on a machine that is busy with other tests
    if (fired >= 640) return;
    fired += 16;
    const path = `/documents/${id}/trigger-webhooks`;
    await Promise.all(Array.from({ length: 16 }, () => request('POST', path, another, body)));
  };
  const file = async () =>
    request('GET', `/documents/${await publishDocument(as)}/export/word?template_id=default`, as);
  const dies = async () => {
    const before = await getSecondExportStart();
    await secondExport.killAndRestart();
    await until('the new one', async () => ![before, undefined].includes(await getSecondExportStart()));
  };
  const ofReceivers = ['CircuitBreakerStorm', 'DeliverySuccessErrorBudgetBurnFast'];
  const ofSlowOnes = ['WebhookDeliveryLag', 'WebhookBacklog', 'DeliveryAgeErrorBudgetBurnFast'];
  const ofExports = ['ExportRejections', 'AvailabilityErrorBudgetBurnFast'];
  const others = ['DeadLetters', 'MongoDBErrors', 'ProcessRestarts', 'DiskFull'];
  try {
    await expectAlerts([...ofReceivers, ...ofSlowOnes, ...ofExports, ...others], {
      async fault() {
        volume.setFreeShare(0.03);
        // `Unauthorized`: a grant is missing
        await mongo.ail({ commands: ['find'], appName: 'sharing', errorCode: 13 });
        await publishEvents('document.published', { no: 'document' });
      },
      repeated: [dies, fire, () => Promise.all(Array.from({ length: 6 }, file))],
    });
  } finally {
    areSlow = false;
    await mongo.ail();
  }
}, 180_000);

test('what is away is told: RabbitMQ, MongoDB, and at last the services themselves', async () => {
  if (!fixture) return;
  const { mongo, rabbit, run, secondExport, expectAlerts } = fixture;
  const { registerAdmin, publishDocument } = users;
  const as = await registerAdmin();
  await expectAlerts(['RabbitMQDown', 'OutboxLag'], {
    fault: async () => {
      await rabbit.kill();
      await publishDocument(as);
    },
  });
  await expectAlerts(['MongoDBDown'], { fault: async () => mongo.members[0]?.kill() });
  await expectAlerts(['ServiceDown'], { fault: () => Promise.all([run, secondExport].map(stopProgram)) });
}, 240_000);

test('every alert was told of its fault, but for those that need days', () => {
  if (!fixture) return;
  expect([...fixture.firedAlerts, ...Object.keys(slowAlerts)].toSorted()).toEqual(
    alerts(realTime)
      .map(({ name }) => name)
      .toSorted(),
  );
});
