/** Declares rows for the latency of reads while the service does other work. */
import { setTimeout as pause } from 'node:timers/promises';
import { createDocument } from '#libs/testing';
import type { BenchFixture, Side } from '../fixture.ts';
import type { BenchRequest } from '../load.ts';
import { getCpuMs } from '../process-usage.ts';
import type { Row, Sample } from '../row.ts';
import { smallDocument } from './trees.ts';

const reads = 1000;
const everyMs = 5;

/** Other work, which `workers` repeat without a pause. */
export interface OtherWork {
  name: string;
  remark: string;
  workers: number;
  /** `work` is called for both sides; on that of the baseline, it waits as long as the work takes. */
  prepare(fixture: BenchFixture): Promise<{
    work(side: Side, worker: number): Promise<void>;
    end?(): Promise<void>;
  }>;
}

/** A row that reads a small document every 5 ms, with and without other work. The p99 counts. */
export function readUnderWork({ name, remark, workers, prepare }: OtherWork): Row {
  return {
    ...{ name, remark, p99Goal: 1.5, unit: 'request' },
    async prepare(fixture, share) {
      const { api, organization, clients, processes } = fixture;
      const { id } = await createDocument(api, organization.key, smallDocument);
      const { work, end } = await prepare(fixture);
      const read: BenchRequest = { method: 'GET', path: `/api/v1/documents/${id}`, key: organization.key };
      return {
        async batch(side: Side): Promise<Sample> {
          const count = Math.max(1, Math.round(reads * share));
          let isOver = false;
          const working = Array.from({ length: workers }, async (_, worker) => {
            while (!isOver) await work(side, worker);
          });
          const cpuBefore = getCpuMs(processes.service.pid);
          const startedAt = performance.now();
          const durations: number[] = [];
          try {
            while (durations.length < count) {
              const askedAt = performance.now();
              await clients.service.send(read);
              durations.push(performance.now() - askedAt);
              await pause(everyMs);
            }
          } finally {
            isOver = true;
          }
          const wallMs = performance.now() - startedAt;
          const cpuMs = getCpuMs(processes.service.pid) - cpuBefore;
          await Promise.all(working);
          durations.sort((a, b) => a - b);
          return { count, wallMs, cpuMs, p99Ms: durations[Math.ceil(count * 0.99) - 1] ?? Number.NaN };
        },
        ...(end && { end }),
      };
    },
  };
}
