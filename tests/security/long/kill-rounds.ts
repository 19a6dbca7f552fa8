/** Kills each process of a deployment many times while integrations work, and then checks all invariants. */
import {
  apiClient,
  type RetryingClient,
  retryingClient,
  slowness,
  until,
  webhookReceiver,
} from '#libs/testing';
import { findViolations } from '../../chaos/violations.ts';
import { type ChaosFixture, chaosFixture, type Deployment } from '../../chaos/workload/fixture.ts';
import { type Integrations, startIntegrations } from '../../chaos/workload/integrations.ts';
import { countPending } from '../../chaos/workload/observed-state.ts';
import type { KillFigures } from './results.ts';
import { startRun } from './run-info.ts';

const integrations = 2;
const settleMs = 300_000;

/** Runs `rounds` rounds. Each kills every process once, with SIGKILL, after more documents were accepted. */
export async function runKillRounds(
  way: Deployment,
  rounds: number,
  say: (line: string) => void,
): Promise<KillFigures> {
  const describeRun = startRun();
  const [system, receiver] = await Promise.all([chaosFixture(way), webhookReceiver()]);
  const api = retryingClient(apiClient(system.origin, { timeoutMs: 20_000 * slowness }));
  const kills = new Map([...system.processes.keys()].map((name) => [name, 0]));
  const outages: { from: number; until: number }[] = [];
  try {
    const working = startIntegrations(api, receiver, integrations);
    try {
      await working.progress();
      for (let round = 1; round <= rounds; round += 1) {
        for (const [name, part] of system.processes) {
          const from = Date.now();
          await part.killAndRestart();
          outages.push({ from, until: Date.now() });
          kills.set(name, (kills.get(name) ?? 0) + 1);
          await working.progress();
        }
        say(`${way}: round ${round} of ${rounds}, ${working.countDocuments()} documents`);
      }
    } finally {
      await working.stop();
    }
    const violations = await check(system, api, receiver.received, working, outages);
    return {
      ...describeRun(),
      rounds,
      kills: Object.fromEntries(kills),
      documents: working.countDocuments(),
      changes: working.tenants.reduce((sum, { changes }) => sum + changes.length, 0),
      retries: api.retries(),
      slowestRestartMs: Math.max(...outages.map((outage) => outage.until - outage.from)),
      violations,
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** Waits until all work is done, and returns the broken invariants. */
export async function check(
  system: ChaosFixture,
  api: RetryingClient,
  received: Parameters<typeof findViolations>[2]['received'],
  { tenants }: Pick<Integrations, 'tenants'>,
  outages: readonly { from: number; until: number }[],
): Promise<string[]> {
  const isSettled = async () => (await countPending(system.db)) === 0;
  // what is still pending is reported as a violation
  await until('no pending events or deliveries', isSettled, settleMs).catch(() => {});
  const checked = tenants.map((tenant) => ({
    ...tenant,
    hooks: [tenant.webhook],
    published: tenant.documents.map(({ id }) => id),
  }));
  // the outbox of each organization is read from the database, its log too: thousands of pages would take hours
  return findViolations(
    { ...system, ...api },
    checked,
    { received },
    { outages, entries: 'from the database' },
  );
}
