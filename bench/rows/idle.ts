/** A process that nobody asks anything. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Limit } from '../limit.ts';
import { fineCpuMsOf } from '../process-usage.ts';

/** What looking for work costs when there is none: outboxes, deliveries, words, health. */
export const idle: Limit = {
  name: 'CPU time of an idle process in a second',
  unit: 'ms',
  goal: 20,
  counts: 'median',
  remark: 'all five services in one process, with the embedded bus; ten seconds, one by one',
  async take({ programs }, share) {
    const { pid } = programs.ours;
    // what came before is finished
    await pause(3_000);
    const seconds: number[] = [];
    while (seconds.length < Math.ceil(10 * share)) {
      const [cpuMs, startedAt] = [fineCpuMsOf(pid), performance.now()];
      await pause(1_000);
      seconds.push(((fineCpuMsOf(pid) - cpuMs) / (performance.now() - startedAt)) * 1000);
    }
    return seconds;
  },
};
