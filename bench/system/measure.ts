/** Measures the CPU time of whole systems per request, from the first byte until nothing is pending. */
import { setTimeout as pause } from 'node:timers/promises';
import type { RabbitBroker } from '#libs/testing';
import { getPreciseCpuMs } from '../process-usage.ts';
import { type Spread, toSpread } from '../statistics.ts';
import { fill, type SystemRow } from './rows.ts';
import { type SideName, type SystemBatch, type Systems, sideNames, startSystems } from './sides.ts';

/** CPU time per request, ms: of the system's own processes, of MongoDB and, if it has one, of its broker. */
export interface SystemCost {
  own: number;
  mongodb: number;
  broker?: number;
}

/** A measured operation. `ratio` is the total cost of the service divided by that of the app, per round. */
export interface SystemResult extends Record<SideName, SystemCost> {
  name: string;
  goal: number | undefined;
  ratio: Spread;
}

/** Options of a measurement. */
export interface SystemOptions {
  mongoUri: string;
  /** Starts the service as five processes with this broker. The default is one process. */
  rabbit?: RabbitBroker | undefined;
  rows: readonly SystemRow[];
  /** Rounds per operation; in each, all systems get the same requests one after the other. */
  rounds: number;
  /** Fraction of the default numbers of documents and requests. */
  share: number;
  signal: AbortSignal;
  onResult(result: SystemResult): void;
}

/** Starts the systems with a new database, measures the operations one after the other, and cleans up. */
export async function measureSystems(options: SystemOptions): Promise<SystemResult[]> {
  const { mongoUri, rabbit, rows, share, onResult } = options;
  if (rows.length === 0) return [];
  const systems = await startSystems(mongoUri, rabbit);
  try {
    await fill(systems, share);
    const results: SystemResult[] = [];
    for (const row of rows) {
      const result = await measureRow(row, systems, options);
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    await systems.stop();
  }
}

async function measureRow(
  { name, goal, requests, prepare }: SystemRow,
  systems: Systems,
  { rounds, share, signal }: SystemOptions,
): Promise<SystemResult> {
  const count = Math.max(1, Math.round(requests * share));
  const createBatch = await prepare(systems, count);
  const measured: Record<SideName, SystemCost>[] = [];
  // the first round warms up
  for (let round = -1; round < rounds; round += 1) {
    signal.throwIfAborted();
    const batch = await createBatch(round + 1);
    await systems.fixture.db.admin().command({ fsync: 1 });
    const costs = await measureRound(systems, batch, count);
    if (round >= 0) measured.push(costs);
  }
  const median = (side: SideName) => getMedianCost(measured.map((costs) => costs[side]));
  return {
    name,
    goal,
    baseline: median('baseline'),
    app: median('app'),
    service: median('service'),
    ratio: toSpread(measured.map(({ service, app }) => getTotal(service) / getTotal(app))),
  };
}

/** Returns the median of each part. `costs` must not be empty. */
export function getMedianCost(costs: readonly SystemCost[]): SystemCost {
  const getMedian = (part: keyof SystemCost) => toSpread(costs.map((cost) => cost[part] ?? 0)).median;
  const broker = costs[0]?.broker === undefined ? {} : { broker: getMedian('broker') };
  return { own: getMedian('own'), mongodb: getMedian('mongodb'), ...broker };
}

async function measureRound(systems: Systems, batch: SystemBatch, count: number) {
  const costs = {} as Record<SideName, SystemCost>;
  for (const name of sideNames) costs[name] = await measureBatch(systems, name, batch, count);
  return costs;
}

/** Sends a batch to one system and returns its cost per request. Nothing else may run on its MongoDB. */
export async function measureBatch(
  { sides, mongodPid }: Systems,
  name: SideName,
  batch: SystemBatch,
  count: number,
): Promise<SystemCost> {
  const { client, pids, brokerPid, isSettled } = sides[name];
  const read = () => ({
    own: pids.reduce((sum, pid) => sum + getPreciseCpuMs(pid), 0),
    mongodb: getPreciseCpuMs(mongodPid),
    broker: brokerPid === undefined ? 0 : getPreciseCpuMs(brokerPid),
  });
  await waitUntilSettled(sides);
  const before = read();
  await client.load(count, batch[name]);
  // few looks, because they cost MongoDB too
  while (!(await isSettled())) await pause(200);
  const after = read();
  const broker = brokerPid === undefined ? {} : { broker: (after.broker - before.broker) / count };
  return {
    own: (after.own - before.own) / count,
    mongodb: (after.mongodb - before.mongodb) / count,
    ...broker,
  };
}

async function waitUntilSettled(sides: Systems['sides']): Promise<void> {
  for (const { isSettled } of Object.values(sides)) while (!(await isSettled())) await pause(200);
}

/** Returns the sum of all parts. */
export function getTotal({ own, mongodb, broker = 0 }: SystemCost): number {
  return own + mongodb + broker;
}
