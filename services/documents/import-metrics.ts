/** Metrics of imports and of their worker pool. */
import { counter, gauge, histogram, type Meters } from '#libs/service';
import type { ImportWorkers } from './imports/import-workers.ts';
import { type ImportFormat, importFormats } from './imports/report.ts';

const reasons = ['queue_full', 'timeout', 'invalid', 'too_large', 'out_of_memory', 'crashed'] as const;

const metrics = {
  duration: histogram({
    name: 'import_duration_seconds',
    help: 'Time to convert a file that is imported or previewed, without time in the queue, by format',
    unit: 'seconds',
    labels: { format: [...importFormats] },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  rejected: counter({
    name: 'import_rejected_total',
    help: 'Rejected imports and previews: the queue was full, the time limit was reached, the file was invalid or too large, the worker ran out of memory or crashed',
    labels: { reason: [...reasons] },
  }),
  queued: gauge({
    name: 'import_queue_length',
    help: 'Imports and previews that wait for a worker',
    labels: {},
  }),
  running: gauge({
    name: 'import_in_progress',
    help: 'Imports and previews that have a worker',
    labels: {},
  }),
};

/** The definitions of all metrics of imports. */
export const importMetrics = Object.values(metrics);

/** Records the metrics of imports. */
export interface ImportMetrics {
  recordImport(options: { format: ImportFormat; seconds: number }): void;
  countRejected(reason: (typeof reasons)[number]): void;
  /** Reads the queue length and the number of running conversions from `workers` at each scrape. */
  observe(workers: Pick<ImportWorkers, 'queued' | 'running'>): void;
}

/** Creates the metrics of imports. */
export function createImportMetrics(meters: Meters): ImportMetrics {
  const duration = meters.histogram(metrics.duration);
  const rejected = meters.counter(metrics.rejected);
  return {
    recordImport: ({ format, seconds }) => duration({ format }, seconds),
    countRejected: (reason) => rejected({ reason }),
    observe(workers) {
      meters.gauge(metrics.queued, () => workers.queued());
      meters.gauge(metrics.running, () => workers.running());
    },
  };
}
