/** The latency of reads while the service does other work. */
import { setTimeout as pause } from 'node:timers/promises';
import { createDocument } from '#libs/testing';
import type { BenchFixture, Side } from '../fixture.ts';
import type { BenchRequest } from '../load.ts';
import { getCpuMs } from '../process-usage.ts';
import type { Row, Sample } from '../row.ts';
import { type Sender, type SenderRequest, startSender } from '../sender.ts';
import { smallDocument } from './trees.ts';

const reads = 1000;
const pauseMs = 5;

/** Work of the service: requests that `workers` threads send, each one after the other. */
export interface OtherWork {
  name: string;
  remark: string;
  workers: number;
  /** Returns `next`, which creates the next request. For the baseline it is called too, but nothing is sent. */
  prepare(fixture: BenchFixture): Promise<{ next(worker: number): Promise<SenderRequest> }>;
}

/** Creates a row that reads a small document, pauses for 5 ms, and so on, with and without other work. */
export function readUnderWork({ name, remark, workers, prepare }: OtherWork): Row {
  return {
    ...{ name, remark, p99Goal: 1.5, unit: 'request' },
    async prepare(fixture, share) {
      const { api, organization, clients, processes } = fixture;
      const { id } = await createDocument(api, organization.key, smallDocument);
      const { next } = await prepare(fixture);
      const { origin } = processes.service;
      const senders = await Promise.all(
        Array.from({ length: workers }, () => startSender({ origin, key: organization.key })),
      );
      // the baseline pauses for as long as the service has worked, at first for a typical time
      let workMs = 300;
      const work = async (side: Side, worker: number, sender: Sender) => {
        const other = await next(worker);
        if (side === 'baseline') return pause(workMs);
        const startedAt = performance.now();
        await sender.send(other);
        workMs = performance.now() - startedAt;
      };
      const read: BenchRequest = { method: 'GET', path: `/api/v1/documents/${id}`, key: organization.key };
      return {
        async batch(side: Side): Promise<Sample> {
          const count = Math.max(1, Math.round(reads * share));
          let isOver = false;
          const working = Promise.all(
            senders.map(async (sender, worker) => {
              while (!isOver) await work(side, worker, sender);
            }),
          );
          // a failure rejects `await working` below, once the reads are done
          working.catch(() => undefined);
          const cpuBefore = getCpuMs(processes.service.pid);
          const startedAt = performance.now();
          const durations: number[] = [];
          try {
            while (durations.length < count) {
              const askedAt = performance.now();
              await clients.service.send(read);
              durations.push(performance.now() - askedAt);
              await pause(pauseMs);
            }
          } finally {
            isOver = true;
          }
          const wallMs = performance.now() - startedAt;
          const cpuMs = getCpuMs(processes.service.pid) - cpuBefore;
          await working;
          durations.sort((a, b) => a - b);
          return { count, wallMs, cpuMs, p99Ms: durations[Math.ceil(count * 0.99) - 1] ?? Number.NaN };
        },
        async end() {
          await Promise.all(senders.map((sender) => sender.close()));
        },
      };
    },
  };
}
