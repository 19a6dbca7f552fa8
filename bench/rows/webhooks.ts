/** Limits for webhook deliveries: latency, throughinserted, and latency under load of endpoints that hang. */
import { setTimeout as pause } from 'node:timers/promises';
import { createWebhook, type Person } from '#libs/testing';
import { type BacklogWebhook, enqueueDeliveries } from '../../services/webhook-delivery/testing/backlog.ts';
import type { BenchFixture, Side } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { getPreciseCpuMs, getRssMb } from '../process-usage.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { deleteDeliveries, publishAtRate } from '../webhook-load.ts';

/** Wraps a measurement so that several limits share one run. */
function once<T>(measure: (fixture: BenchFixture, share: number) => Promise<T>) {
  let measured: Promise<T> | undefined;
  return (fixture: BenchFixture, share: number) => (measured ??= measure(fixture, share));
}

async function withReceiver<T>(work: (receiver: Receiver) => Promise<T>): Promise<T> {
  const receiver = await startReceiver();
  return work(receiver).finally(() => receiver.close());
}

async function createOrganizations({ register }: BenchFixture, count: number): Promise<Person[]> {
  const organizations: Person[] = [];
  while (organizations.length < count) organizations.push(await register());
  return organizations;
}

/** No request of the benchmarks archives a document: these webhooks get only enqueued deliveries. */
const archived = ['document.archived'];

const getAges = (receiver: Receiver) => receiver.arrivals.map(({ ageMs }) => ageMs);

/** Ages of events on arrival, for each side. The sides alternate, so that a stalling disk affects both. */
const measureAges = once((fixture, share) =>
  withReceiver(async (receiver) => {
    const organizations = await createOrganizations(fixture, 10);
    for (const [i, organization] of organizations.entries())
      await createWebhook(fixture.api, organization.key, receiver.healthyUrl(`${i}`));
    const measureAgesOf = async (side: Side, count: number) => {
      receiver.clear();
      await publishAtRate(fixture, organizations, { count, perSecond: 100, side });
      await receiver.waitFor(count);
      return getAges(receiver);
    };
    const first: Record<Side, number[]> = { service: [], baseline: [] };
    const later: Record<Side, number[]> = { service: [], baseline: [] };
    // during these deliveries both processes compile most of their code and open connections
    for (const side of sides) first[side] = await measureAgesOf(side, Math.ceil(1_000 * share));
    for (let round = 0; round < 3; round += 1)
      for (const side of sides) later[side].push(...(await measureAgesOf(side, Math.ceil(500 * share))));
    return { first, later };
  }),
);

const sides: readonly Side[] = ['service', 'baseline'];

const ageLimit = (statistic: 'p50' | 'p95' | 'p99', goal: number): Limit => ({
  name: `webhook: event to receiver, 100 per second, ${statistic}`,
  unit: 'ms',
  goal,
  statistic,
  ...(statistic === 'p50' && {
    remark:
      'after 1,000 warm-up events; the same process handles the requests that publish documents of ten nodes; measured from just before the commit; baseline: a bare relay that does the same writes and requests',
  }),
  measure: async (fixture, share) => (await measureAges(fixture, share)).later.service,
  measureBaseline: async (fixture, share) => (await measureAges(fixture, share)).later.baseline,
});

/** Creates 100 webhooks: five for each of 20 organizations. */
async function createWebhooks(fixture: BenchFixture, receiver: Receiver): Promise<BacklogWebhook[]> {
  const hooks: BacklogWebhook[] = [];
  for (const [i, organization] of (await createOrganizations(fixture, 20)).entries())
    for (let j = 0; j < 5; j += 1)
      hooks.push(
        await createWebhook(fixture.api, organization.key, receiver.healthyUrl(`${i}-${j}`), archived),
      );
  return hooks;
}

const measureRates = once((fixture, share) =>
  withReceiver(async (receiver) => {
    const hooks = await createWebhooks(fixture, receiver);
    await enqueueDeliveries(fixture.db, hooks, 2_000);
    await receiver.waitFor(2_000);
    const { sustained, cpuMs } = await sustain(fixture, receiver, hooks, 20 * share);
    const peaks = [
      await drain(fixture, receiver, hooks, 5_000),
      await drain(fixture, receiver, hooks, 5_000),
    ];
    const long = await drain(fixture, receiver, hooks, Math.ceil(50_000 * share));
    const peak = Math.max(...peaks.map(({ perSecond }) => perSecond));
    return { sustained, cpuMs, ofPeak: (long.perSecond / peak) * 100, addedMb: long.addedMb };
  }),
);

/**
 * Measures deliveries per second, and CPU time per delivery in ms, while 1,500 to 2,000 deliveries are always
 * due.
 */
async function sustain(
  fixture: BenchFixture,
  receiver: Receiver,
  hooks: readonly BacklogWebhook[],
  seconds: number,
) {
  const { pid } = fixture.processes.service;
  receiver.clear();
  const cpuBefore = getPreciseCpuMs(pid);
  let inserted = 0;
  const until = performance.now() + seconds * 1000;
  const perSecond: number[] = [];
  let last = { at: performance.now(), count: 0 };
  while (performance.now() < until) {
    if (inserted - receiver.arrivals.length < 2_000) {
      await enqueueDeliveries(fixture.db, hooks, 500);
      inserted += 500;
    } else await pause(5);
    const now = { at: performance.now(), count: receiver.arrivals.length };
    if (now.at - last.at < 1_000) continue;
    perSecond.push(((now.count - last.count) / (now.at - last.at)) * 1000);
    last = now;
  }
  await receiver.waitFor(inserted);
  // the queue is still filling during the first second
  return { sustained: perSecond.slice(1), cpuMs: (getPreciseCpuMs(pid) - cpuBefore) / inserted };
}

/**
 * Measures the rate of `count` deliveries that become due at the same time, and the memory they add, in MB.
 */
async function drain(
  fixture: BenchFixture,
  receiver: Receiver,
  hooks: readonly BacklogWebhook[],
  count: number,
) {
  const { pid } = fixture.processes.service;
  const due = new Date(Date.now() + 2_000 + count / 5);
  await enqueueDeliveries(fixture.db, hooks, count, due);
  receiver.clear();
  const before = getRssMb(pid);
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, getRssMb(pid));
  }, 100);
  await receiver.waitFor(count).finally(() => clearInterval(sampling));
  const times = receiver.arrivals.map(({ at }) => at).sort((a, b) => a - b);
  // ignore the first and last 5 %, when not all slots are used
  const [first, last] = [Math.floor(count * 0.05), Math.floor(count * 0.95)];
  const tookMs = (times[last] ?? Number.NaN) - (times[first] ?? Number.NaN);
  return { perSecond: ((last - first) / tookMs) * 1000, addedMb: peak - before };
}

/**
 * Measures the ages of 20 events per second at a healthy webhook, under load of deliveries that get no
 * response.
 */
function measureUnderLoad(hanging: { webhooks: number; deliveries: number; isSameOrganization: boolean }) {
  return once((fixture, share) =>
    withReceiver(async (receiver) => {
      const [organization, other] = await createOrganizations(fixture, 2);
      if (!organization || !other) throw new Error('Could not create the organizations');
      await createWebhook(fixture.api, organization.key, receiver.healthyUrl('under-load'));
      const hooks: BacklogWebhook[] = [];
      const { key } = hanging.isSameOrganization ? organization : other;
      for (let i = 0; i < hanging.webhooks; i += 1)
        hooks.push(await createWebhook(fixture.api, key, receiver.hangingUrl(`${i}`), archived));
      await enqueueDeliveries(fixture.db, hooks, hanging.deliveries);
      const count = Math.ceil(600 * share);
      try {
        await publishAtRate(fixture, [organization], { count, perSecond: 20 });
        await receiver.waitFor(count);
        return getAges(receiver);
      } finally {
        await deleteDeliveries(fixture, hooks);
      }
    }),
  );
}

const underOneHanging = measureUnderLoad({ webhooks: 1, deliveries: 500, isSameOrganization: true });
const underManyHanging = measureUnderLoad({ webhooks: 49, deliveries: 4_900, isSameOrganization: false });

const fairnessLimit = (
  load: string,
  statistic: 'p95' | 'p99',
  goal: number,
  measure: Limit['measure'],
  remark?: string,
): Limit => ({
  name: `webhook: healthy under load of ${load}, ${statistic}`,
  unit: 'ms',
  goal,
  statistic,
  ...(remark !== undefined && { remark }),
  measure,
});

/** The limits for webhook deliveries. */
export const deliveries: readonly Limit[] = [
  ageLimit('p50', 20),
  ageLimit('p95', 50),
  ageLimit('p99', 90),
  {
    name: 'webhook: event to receiver, first 1,000, p99',
    unit: 'ms',
    goal: 900,
    statistic: 'p99',
    remark: 'the first ten seconds of each process under load; the goal is ten times the goal after warm-up',
    measure: async (fixture, share) => (await measureAges(fixture, share)).first.service,
    measureBaseline: async (fixture, share) => (await measureAges(fixture, share)).first.baseline,
  },
  {
    name: 'webhook: deliveries of one process, sustained',
    unit: '/s',
    goal: 1_500,
    isMinimum: true,
    statistic: 'median',
    remark:
      'one process, 100 endpoints of 20 organizations, 2,000 deliveries always due; the receiver shares the cores',
    measure: async (fixture, share) => (await measureRates(fixture, share)).sustained,
  },
  {
    name: 'webhook: CPU time per delivery, sustained',
    unit: 'ms',
    goal: 0.5,
    statistic: 'median',
    remark: 'of the sending process; other load on the machine hardly affects it',
    measure: async (fixture, share) => [(await measureRates(fixture, share)).cpuMs],
  },
  {
    name: 'webhook: rate of draining 50,000, relative to the peak',
    unit: '%',
    goal: 80,
    isMinimum: true,
    statistic: 'median',
    remark: 'the peak is the better of two bursts of 5,000',
    measure: async (fixture, share) => [(await measureRates(fixture, share)).ofPeak],
  },
  {
    name: 'webhook: memory added by the drain',
    unit: 'MB',
    goal: 64,
    statistic: 'largest',
    measure: async (fixture, share) => [(await measureRates(fixture, share)).addedMb],
  },
  fairnessLimit(
    'one hanging endpoint',
    'p95',
    1_000,
    underOneHanging,
    '500 deliveries to an endpoint that never answers, 20 per second to the healthy endpoint',
  ),
  fairnessLimit('one hanging endpoint', 'p99', 2_000, underOneHanging),
  fairnessLimit(
    '49 hanging endpoints',
    'p95',
    1_000,
    underManyHanging,
    '4,900 deliveries of another organization',
  ),
  fairnessLimit('49 hanging endpoints', 'p99', 2_000, underManyHanging),
];
