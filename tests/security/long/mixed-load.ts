/** Runs five processes under mixed load, and records memory, file descriptors and the depth of all queues. */
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { apiClient, retryingClient, slowness, webhookReceiver } from '#libs/testing';
import { getRssMb } from '../../../bench/process-usage.ts';
import { type ChaosFixture, chaosFixture } from '../../chaos/workload/fixture.ts';
import { startIntegrations } from '../../chaos/workload/integrations.ts';
import { countMessages, countPending } from '../../chaos/workload/observed-state.ts';
import { check } from './kill-rounds.ts';
import type { LoadFigures } from './results.ts';
import { startRun } from './run-info.ts';

const integrations = 4;
/** Caches fill and code is compiled during this share of the run, which is not compared. */
const warmUpShare = 0.2;
const samples = 60;

/** One reading of the whole system. */
interface Reading {
  processes: Record<string, { memoryMb: number; descriptors: number }>;
  backlog: number;
}

/** Runs the load for `minutes`. */
export async function runMixedLoad(minutes: number, say: (line: string) => void): Promise<LoadFigures> {
  const describeRun = startRun();
  const [system, receiver] = await Promise.all([
    chaosFixture('five under Node'),
    // an hour of requests does not fit into the memory of the receiver
    webhookReceiver(undefined, { isRecording: false }),
  ]);
  const api = retryingClient(apiClient(system.origin, { timeoutMs: 20_000 * slowness }));
  try {
    const working = startIntegrations(api, receiver, integrations);
    const readings: Reading[] = [];
    try {
      for (let taken = 0; taken < samples; taken += 1) {
        await pause((minutes * 60_000) / samples);
        readings.push(await read(system));
        say(`mixed load: sample ${taken + 1} of ${samples}, ${working.countDocuments()} documents`);
      }
    } finally {
      await working.stop();
    }
    const compared = readings.slice(Math.ceil(samples * warmUpShare));
    const third = Math.floor(compared.length / 3);
    const [first, last] = [compared.slice(0, third), compared.slice(-third)];
    const names = [...system.processes.keys()];
    return {
      ...describeRun(),
      documents: working.countDocuments(),
      requestsFailed: api.retries(),
      processes: Object.fromEntries(
        names.map((name) => [name, { first: getMedians(first, name), last: getMedians(last, name) }]),
      ),
      backlog: { first: getHighest(first), last: getHighest(last) },
      violations: await check(system, api, [], { tenants: [] }, []),
    };
  } finally {
    await system.stop();
    await receiver.close();
  }
}

async function read(system: ChaosFixture): Promise<Reading> {
  const processes = [...system.processes].map(([name, { process: child }]) => {
    const pid = Number(child.pid);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    return [name, { memoryMb: getRssMb(pid), descriptors }] as const;
  });
  const messages = Object.values(await countMessages(system));
  const backlog = messages.reduce((sum, count) => sum + count, await countPending(system.db));
  return { processes: Object.fromEntries(processes), backlog };
}

function getMedians(readings: readonly Reading[], name: string) {
  const getMedian = (field: 'memoryMb' | 'descriptors') => {
    const values = readings.map(({ processes }) => processes[name]?.[field] ?? 0).sort((a, b) => a - b);
    return Math.round(values[Math.floor(values.length / 2)] ?? 0);
  };
  return { memoryMb: getMedian('memoryMb'), descriptors: getMedian('descriptors') };
}

function getHighest(readings: readonly Reading[]): number {
  return Math.max(0, ...readings.map(({ backlog }) => backlog));
}
