/** Metering: what operators are told of files that are made. */
import { counter, gauge, histogram, type Meters } from '#libs/service';
import type { Threads } from './workers/worker-pool.ts';

const metrics = {
  duration: histogram({
    name: 'export_duration_seconds',
    help: 'Time to make a file once its turn has come, by format and size of the nodes: `small` up to 64 KiB, `medium` up to 1 MiB, `large`',
    unit: 'seconds',
    labels: { format: ['docx', 'md'], size: ['small', 'medium', 'large'] },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  refused: counter({
    name: 'export_rejected_total',
    help: 'Files that were not made: too many waited, it took too long, the document or the memory for it was too large, the process that makes them ended',
    labels: { reason: ['queue_full', 'timeout', 'too_large', 'out_of_memory', 'crashed'] },
  }),
  waiting: gauge({
    name: 'export_queue_length',
    help: 'Files and templates that wait for their turn',
    labels: {},
  }),
  running: gauge({
    name: 'export_in_progress',
    help: 'Files and templates whose turn it is',
    labels: {},
  }),
};

/** What the export service tells of itself. */
export const exportMetrics = Object.values(metrics);

/** Why a file was not made. */
export type Refusal = 'queue_full' | 'timeout' | 'too_large' | 'out_of_memory' | 'crashed';

/** Counts what happens to files. */
export interface Metering {
  /** A file was made of so many bytes of nodes. */
  made(options: { format: 'docx' | 'md'; bytes: number; seconds: number }): void;
  refused(reason: Refusal): void;
  /** Reads how many wait, and how many have their turn, whenever the metrics are read. */
  watch(threads: Pick<Threads, 'waiting' | 'running'>): void;
}

/** Keeps the metrics of files. */
export function metering(meters: Meters): Metering {
  const duration = meters.histogram(metrics.duration);
  const refused = meters.counter(metrics.refused);
  return {
    made: ({ format, bytes, seconds }) => duration({ format, size: sizeOf(bytes) }, seconds),
    refused: (reason) => refused({ reason }),
    watch(threads) {
      meters.gauge(metrics.waiting, () => threads.waiting());
      meters.gauge(metrics.running, () => threads.running());
    },
  };
}

function sizeOf(bytes: number): 'small' | 'medium' | 'large' {
  if (bytes <= 64 * 1024) return 'small';
  return bytes <= 2 ** 20 ? 'medium' : 'large';
}
