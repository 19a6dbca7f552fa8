/** Limit for the CPU time of an idle process. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Limit } from '../limit.ts';
import { getPreciseCpuMs } from '../process-usage.ts';

/** The cost of polling without work: outboxes, deliveries, search index and health checks. */
export const idle: Limit = {
  name: 'CPU time of an idle process per second',
  unit: 'ms',
  goal: 20,
  statistic: 'median',
  remark: 'all five services in one process, with the in-process bus; measured in ten single seconds',
  async measure({ processes }, share) {
    const { pid } = processes.service;
    // let the work of earlier rows finish
    await pause(3_000);
    const seconds: number[] = [];
    while (seconds.length < Math.ceil(10 * share)) {
      const [cpuMs, startedAt] = [getPreciseCpuMs(pid), performance.now()];
      await pause(1_000);
      seconds.push(((getPreciseCpuMs(pid) - cpuMs) / (performance.now() - startedAt)) * 1000);
    }
    return seconds;
  },
};
