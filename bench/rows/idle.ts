/** Limits for the CPU time and the memory of an idle process. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Limit } from '../limit.ts';
import { getPreciseCpuMs, getRssMb } from '../process-usage.ts';
import { start } from '../processes.ts';

const remark = 'all five services in one process, with the in-process bus';

/** The cost of polling without work: outboxes, deliveries, search index and health checks. */
export const idle: Limit = {
  name: 'CPU time of an idle process per second',
  unit: 'ms',
  goal: 20,
  statistic: 'median',
  remark: `${remark}; measured in ten single seconds`,
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

/** A new process that has served no request. */
export const idleMemory: Limit = {
  name: 'resident memory of an idle process',
  unit: 'MB',
  goal: 200,
  statistic: 'largest',
  remark: `${remark}; ten single seconds after its start`,
  async measure({ commands }, share) {
    const program = await start(commands.service);
    try {
      const samples: number[] = [];
      while (samples.length < Math.ceil(10 * share)) {
        await pause(1_000);
        samples.push(getRssMb(program.pid));
      }
      return samples;
    } finally {
      await program.stop();
    }
  },
};
