/** Webhook deliveries: how soon they come, how many in a second, and what others feel of an endpoint that hangs. */
import { setTimeout as pause } from 'node:timers/promises';
import { type BacklogWebhook, enqueueDeliveries } from '../../services/webhook-delivery/testing/backlog.ts';
import { hooked, published, removed } from '../deliveries.ts';
import type { BenchFixture, Organization, Side } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { fineCpuMsOf, rssMbOf } from '../process-usage.ts';
import { type Receiver, receiver } from '../receiver.ts';

/** Measures once for several promises. */
function once<T>(measure: (stage: BenchFixture, share: number) => Promise<T>) {
  let measured: Promise<T> | undefined;
  return (stage: BenchFixture, share: number) => (measured ??= measure(stage, share));
}

async function at<T>(work: (there: Receiver) => Promise<T>): Promise<T> {
  const there = await receiver();
  return work(there).finally(() => there.close());
}

async function houses({ register }: BenchFixture, count: number): Promise<Organization[]> {
  const made: Organization[] = [];
  while (made.length < count) made.push(await register());
  return made;
}

const ages = (there: Receiver) => there.arrivals.map(({ ageMs }) => ageMs);

/** How old events are when they come, of either side; they take turns, because a disk that stalls hits whoever is at it. */
const steady = once((stage, share) =>
  at(async (there) => {
    const organizations = await houses(stage, 10);
    for (const [i, house] of organizations.entries()) await hooked(stage, house, there.healthy(`${i}`));
    const told = async (side: Side, count: number) => {
      there.forget();
      await published(stage, organizations, { count, perSecond: 100, side });
      await there.came(count);
      return ages(there);
    };
    const first: Record<Side, number[]> = { ours: [], floor: [] };
    const found: Record<Side, number[]> = { ours: [], floor: [] };
    // both compile most of their code, and open connections, while they tell these
    for (const side of sides) first[side] = await told(side, Math.ceil(1_000 * share));
    for (let turn = 0; turn < 3; turn += 1)
      for (const side of sides) found[side].push(...(await told(side, Math.ceil(500 * share))));
    return { first, found };
  }),
);

const sides: readonly Side[] = ['ours', 'floor'];

const soon = (counts: 'p50' | 'p95' | 'p99', goal: number): Limit => ({
  name: `webhook: event to receiver, 100 a second, ${counts}`,
  unit: 'ms',
  goal,
  counts,
  ...(counts === 'p50' && {
    remark:
      'after 1,000 others; documents of ten nodes are published through the API at the same time, by the same process; the time begins just before the commit; floor: a bare relay that does the same writes and requests',
  }),
  take: async (stage, share) => (await steady(stage, share)).found.ours,
  takeFloor: async (stage, share) => (await steady(stage, share)).found.floor,
});

/** Webhooks of twenty organizations, five each. */
async function crowd(stage: BenchFixture, there: Receiver): Promise<BacklogWebhook[]> {
  const hooks: BacklogWebhook[] = [];
  for (const [i, house] of (await houses(stage, 20)).entries())
    for (let one = 0; one < 5; one += 1)
      hooks.push(await hooked(stage, house, there.healthy(`${i}-${one}`), 'document.archived'));
  return hooks;
}

const rates = once((stage, share) =>
  at(async (there) => {
    const hooks = await crowd(stage, there);
    await enqueueDeliveries(stage.db, hooks, 2_000);
    await there.came(2_000);
    const { sustained, cpuMs } = await closedLoop(stage, there, hooks, 20 * share);
    const peaks = [await drained(stage, there, hooks, 5_000), await drained(stage, there, hooks, 5_000)];
    const long = await drained(stage, there, hooks, Math.ceil(50_000 * share));
    const peak = Math.max(...peaks.map(({ perSecond }) => perSecond));
    return { sustained, cpuMs, ofPeak: (long.perSecond / peak) * 100, addedMb: long.addedMb };
  }),
);

/** Deliveries a second, second by second, and the CPU time of one, while a thousand or two are due all the time. */
async function closedLoop(
  stage: BenchFixture,
  there: Receiver,
  hooks: readonly BacklogWebhook[],
  seconds: number,
) {
  const { pid } = stage.programs.ours;
  there.forget();
  const cpuBefore = fineCpuMsOf(pid);
  let put = 0;
  const until = performance.now() + seconds * 1000;
  const perSecond: number[] = [];
  let last = { at: performance.now(), count: 0 };
  while (performance.now() < until) {
    if (put - there.arrivals.length < 2_000) {
      await enqueueDeliveries(stage.db, hooks, 500);
      put += 500;
    } else await pause(5);
    const now = { at: performance.now(), count: there.arrivals.length };
    if (now.at - last.at < 1_000) continue;
    perSecond.push(((now.count - last.count) / (now.at - last.at)) * 1000);
    last = now;
  }
  await there.came(put);
  // in the first second the queue only fills
  return { sustained: perSecond.slice(1), cpuMs: (fineCpuMsOf(pid) - cpuBefore) / put };
}

/** The rate at which so many deliveries, all due at the same moment, leave, and what memory that takes beyond what was there. */
async function drained(
  stage: BenchFixture,
  there: Receiver,
  hooks: readonly BacklogWebhook[],
  count: number,
) {
  const { pid } = stage.programs.ours;
  const due = new Date(Date.now() + 2_000 + count / 5);
  await enqueueDeliveries(stage.db, hooks, count, due);
  there.forget();
  const before = rssMbOf(pid);
  let most = before;
  const looking = setInterval(() => {
    most = Math.max(most, rssMbOf(pid));
  }, 100);
  await there.came(count).finally(() => clearInterval(looking));
  const times = there.arrivals.map(({ at }) => at).sort((a, b) => a - b);
  // without the beginning and the end: then slots are empty
  const [first, last] = [Math.floor(count * 0.05), Math.floor(count * 0.95)];
  const tookMs = (times[last] ?? Number.NaN) - (times[first] ?? Number.NaN);
  return { perSecond: ((last - first) / tookMs) * 1000, addedMb: most - before };
}

/** How old events are when they come to a healthy webhook, 20 a second, beside deliveries that nobody answers. */
function beside(hanging: { webhooks: number; deliveries: number; sameHouse: boolean }) {
  return once((stage, share) =>
    at(async (there) => {
      const [house, other] = await houses(stage, 2);
      if (!house || !other) throw new Error('There are no organizations');
      await hooked(stage, house, there.healthy('beside'));
      const hooks: BacklogWebhook[] = [];
      for (let i = 0; i < hanging.webhooks; i += 1) {
        const url = there.hanging(`${i}`);
        hooks.push(await hooked(stage, hanging.sameHouse ? house : other, url, 'document.archived'));
      }
      await enqueueDeliveries(stage.db, hooks, hanging.deliveries);
      const count = Math.ceil(600 * share);
      try {
        await published(stage, [house], { count, perSecond: 20 });
        await there.came(count);
        return ages(there);
      } finally {
        await removed(stage, hooks);
      }
    }),
  );
}

const besideEndpoint = beside({ webhooks: 1, deliveries: 500, sameHouse: true });
const besideOrganization = beside({ webhooks: 49, deliveries: 4_900, sameHouse: false });

const fair = (
  what: string,
  counts: 'p95' | 'p99',
  goal: number,
  take: Limit['take'],
  remark?: string,
): Limit => ({
  name: `webhook: healthy beside ${what}, ${counts}`,
  unit: 'ms',
  goal,
  counts,
  ...(remark !== undefined && { remark }),
  take,
});

/** What is promised of webhook deliveries. */
export const deliveries: readonly Limit[] = [
  soon('p50', 20),
  soon('p95', 50),
  soon('p99', 90),
  {
    name: 'webhook: event to receiver, 100 a second, p99 of the first 1,000',
    unit: 'ms',
    goal: 900,
    counts: 'p99',
    remark: 'the first ten seconds of either process under load; the goal is ten times that of the others',
    take: async (stage, share) => (await steady(stage, share)).first.ours,
    takeFloor: async (stage, share) => (await steady(stage, share)).first.floor,
  },
  {
    name: 'webhook: deliveries of one process, sustained',
    unit: '/s',
    goal: 1_500,
    atLeast: true,
    counts: 'median',
    remark:
      'one process, 100 endpoints of 20 organizations, 2,000 deliveries due at any time; the receiver shares the cores',
    take: async (stage, share) => (await rates(stage, share)).sustained,
  },
  {
    name: 'webhook: CPU time of a delivery, sustained',
    unit: 'ms',
    goal: 0.5,
    counts: 'median',
    remark: 'of the process that delivers; what else the machine does hardly shows in it',
    take: async (stage, share) => [(await rates(stage, share)).cpuMs],
  },
  {
    name: 'webhook: rate of a drain of 50,000, of the peak',
    unit: '%',
    goal: 80,
    atLeast: true,
    counts: 'median',
    remark: 'the peak is the better of two bursts of 5,000',
    take: async (stage, share) => [(await rates(stage, share)).ofPeak],
  },
  {
    name: 'webhook: memory that the drain adds',
    unit: 'MB',
    goal: 64,
    counts: 'largest',
    take: async (stage, share) => [(await rates(stage, share)).addedMb],
  },
  fair(
    'one endpoint that hangs',
    'p95',
    1_000,
    besideEndpoint,
    '500 deliveries to one that never answers, 20 a second to the healthy one',
  ),
  fair('one endpoint that hangs', 'p99', 2_000, besideEndpoint),
  fair(
    '49 endpoints that hang',
    'p95',
    1_000,
    besideOrganization,
    '4,900 deliveries of another organization',
  ),
  fair('49 endpoints that hang', 'p99', 2_000, besideOrganization),
];
