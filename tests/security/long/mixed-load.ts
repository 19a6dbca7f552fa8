/** Runs a deployment under mixed load, and records memory, file descriptors and the depth of all queues. */
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { apiClient, retryingClient, slowness, webhookReceiver } from '#libs/testing';
import { getOwnRssMb, getRssMb } from '../../../bench/process-usage.ts';
import { type ChaosFixture, chaosFixture, type Deployment } from '../../chaos/workload/fixture.ts';
import { startIntegrations } from '../../chaos/workload/integrations.ts';
import { countMessages, countPending } from '../../chaos/workload/observed-state.ts';
import { check } from './kill-rounds.ts';
import { startReader } from './reader.ts';
import type { LoadFigures } from './results.ts';
import { startRun } from './run-info.ts';

const integrations = 4;
/** Caches fill and code is compiled during this share of the run, which is not compared. */
const warmUpShare = 0.2;
const samples = 60;
/** After the load, until the memory is read once more. */
const restMs = 60_000;

/** One reading of the whole system. */
interface Reading {
  /** By name. The child processes of a process, such as its export workers, have a name of their own. */
  processes: ReadonlyMap<string, { memoryMb: number; descriptors: number }>;
  backlog: number;
}

/** Runs the load for `minutes`. */
export async function runMixedLoad(
  way: Deployment,
  minutes: number,
  say: (line: string) => void,
): Promise<LoadFigures> {
  const describeRun = startRun();
  const [system, receiver] = await Promise.all([
    chaosFixture(way, { hasMemoryLimits: true }),
    // an hour of requests does not fit into the memory of the receiver
    webhookReceiver(undefined, { isRecording: false }),
  ]);
  const api = retryingClient(apiClient(system.origin, { timeoutMs: 20_000 * slowness }));
  try {
    const writing = startIntegrations(api, receiver, integrations);
    const reading = startReader(api, writing.tenants);
    const readings: Reading[] = [];
    try {
      for (let taken = 0; taken < samples; taken += 1) {
        await pause((minutes * 60_000) / samples);
        readings.push(await read(system));
        say(`mixed load: sample ${taken + 1} of ${samples}, ${writing.countDocuments()} documents`);
      }
    } finally {
      await Promise.all([writing.stop(), reading.stop()]);
    }
    await pause(restMs);
    const rested = await read(system);
    const compared = readings.slice(Math.ceil(samples * warmUpShare));
    const third = Math.floor(compared.length / 3);
    const [first, last] = [compared.slice(0, third), compared.slice(-third)];
    const names = new Set(compared.flatMap(({ processes }) => [...processes.keys()]));
    const processes = [...names].map((name) => {
      const rest = rested.processes.get(name) ?? { memoryMb: 0, descriptors: 0 };
      return [name, { first: getMedians(first, name), last: getMedians(last, name), rest }] as const;
    });
    return {
      ...describeRun(),
      deployment: way,
      documents: writing.countDocuments(),
      reads: reading.countReads(),
      requestsFailed: api.retries(),
      processes: Object.fromEntries(processes),
      backlog: { first: getHighest(first), last: getHighest(last) },
      violations: await check(system, api, [], { tenants: [] }, []),
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

async function read(system: ChaosFixture): Promise<Reading> {
  const processes = new Map<string, { memoryMb: number; descriptors: number }>();
  for (const [name, { process: child }] of system.processes) {
    const pid = Number(child.pid);
    const memoryMb = Math.round(getOwnRssMb(pid));
    const childrenMb = Math.round(getRssMb(pid)) - memoryMb;
    processes.set(name, { memoryMb, descriptors: readdirSync(`/proc/${pid}/fd`).length });
    if (childrenMb > 0) processes.set(`workers of ${name}`, { memoryMb: childrenMb, descriptors: 0 });
  }
  const messages = Object.values(await countMessages(system));
  const backlog = messages.reduce((sum, count) => sum + count, await countPending(system.db));
  return { processes, backlog };
}

function getMedians(readings: readonly Reading[], name: string) {
  const getMedian = (field: 'memoryMb' | 'descriptors') => {
    const values = readings.map(({ processes }) => processes.get(name)?.[field] ?? 0).sort((a, b) => a - b);
    return Math.round(values[Math.floor(values.length / 2)] ?? 0);
  };
  return { memoryMb: getMedian('memoryMb'), descriptors: getMedian('descriptors') };
}

function getHighest(readings: readonly Reading[]): number {
  return Math.max(0, ...readings.map(({ backlog }) => backlog));
}
