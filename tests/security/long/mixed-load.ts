/** Runs a deployment under mixed load, and records memory, file descriptors and waiting messages. */
import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { apiClient, retryingClient, slowness, webhookReceiver } from '#libs/testing';
import { getDescendantsRssMb, getOwnRssMb } from '../../../bench/process-usage.ts';
import { type ChaosFixture, chaosFixture, type Deployment } from '../../chaos/workload/fixture.ts';
import { startIntegrations } from '../../chaos/workload/integrations.ts';
import { countMessages, countPending } from '../../chaos/workload/observed-state.ts';
import { check } from './kill-rounds.ts';
import { startReader } from './reader.ts';
import type { LoadFigures, Sample } from './results.ts';
import { startRun } from './run-info.ts';

const integrations = 4;
/** Caches fill and code is compiled during this share of the run, which is not compared. */
const warmUpShare = 0.2;
const samples = 60;
/** After the load, until the memory is read once more. Idle workers end after 60 s. */
const restMs = 90_000;

/** One reading of the whole system. */
interface Reading {
  /** By name. The child processes of a process, such as its export workers, have one name together. */
  processes: ReadonlyMap<string, Sample>;
  /** The sum of all messages in queues, unpublished events and pending deliveries. */
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
        await Promise.race([pause((minutes * 60_000) / samples), writing.ended, reading.ended]);
        readings.push(await read(system));
        say(`mixed load: sample ${taken + 1} of ${samples}, ${writing.countDocuments()} documents`);
      }
    } finally {
      // both must have ended before the system is stopped, also if one has failed
      await Promise.allSettled([writing.stop(), reading.stop()]);
    }
    await Promise.all([writing.ended, reading.ended]);
    await pause(restMs);
    const rested = await read(system);
    const compared = readings.slice(Math.ceil(samples * warmUpShare));
    const third = Math.floor(compared.length / 3);
    const [first, last] = [compared.slice(0, third), compared.slice(-third)];
    const names = new Set(compared.flatMap(({ processes }) => [...processes.keys()]));
    const processes = [...names].map((name) => {
      // workers may have ended
      const rest = rested.processes.get(name) ?? { memoryMb: 0 };
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
  const processes = new Map<string, Sample>();
  for (const [name, { process: child }] of system.processes) {
    const pid = Number(child.pid);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    processes.set(name, { memoryMb: Math.round(getOwnRssMb(pid)), descriptors });
    const workersMb = Math.round(getDescendantsRssMb(pid));
    if (workersMb > 0) processes.set(`workers of ${name}`, { memoryMb: workersMb });
  }
  const messages = Object.values(await countMessages(system));
  const backlog = messages.reduce((sum, count) => sum + count, await countPending(system.db));
  return { processes, backlog };
}

/** A process that did not run, such as an idle worker, counts as 0 MB. */
function getMedians(readings: readonly Reading[], name: string): Sample {
  const found = readings.map(({ processes }) => processes.get(name) ?? { memoryMb: 0 });
  const descriptors = found.flatMap((sample) => sample.descriptors ?? []);
  return {
    memoryMb: getMedian(found.map(({ memoryMb }) => memoryMb)),
    ...(descriptors.length > 0 && { descriptors: getMedian(descriptors) }),
  };
}

function getMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function getHighest(readings: readonly Reading[]): number {
  return Math.max(0, ...readings.map(({ backlog }) => backlog));
}
