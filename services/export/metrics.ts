/** Metrics of exports and of the worker pool. */
import { counter, gauge, histogram, type Meters } from '#libs/service';
import type { ExportWorkers } from './workers/export-workers.ts';

const metrics = {
  duration: histogram({
    name: 'export_duration_seconds',
    help: 'Time to render a file, without time in the queue, by format and size of the nodes: `small` up to 64 KiB, `medium` up to 1 MiB, `large`',
    unit: 'seconds',
    labels: { format: ['docx', 'md', 'html'], size: ['small', 'medium', 'large'] },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  rejected: counter({
    name: 'export_rejected_total',
    help: 'Rejected exports and template uploads: the queue was full, the time limit was reached, the document was too large, the worker ran out of memory or crashed',
    labels: { reason: ['queue_full', 'timeout', 'too_large', 'out_of_memory', 'crashed'] },
  }),
  queued: gauge({
    name: 'export_queue_length',
    help: 'Exports and template uploads that wait for a worker',
    labels: {},
  }),
  running: gauge({
    name: 'export_in_progress',
    help: 'Exports and template uploads that have a worker',
    labels: {},
  }),
};

/** The definitions of all metrics of the export service. */
export const exportMetrics = Object.values(metrics);

/** Why an export or template upload was rejected. */
export type RejectReason = 'queue_full' | 'timeout' | 'too_large' | 'out_of_memory' | 'crashed';

/** Records the metrics of the export service. */
export interface ExportMetrics {
  /** Records a rendered file; `bytes` is the size of the document's nodes. */
  recordExport(options: { format: 'docx' | 'md' | 'html'; bytes: number; seconds: number }): void;
  countRejected(reason: RejectReason): void;
  /** Reads the queue length and the number of running uses from `workers` at each scrape. */
  observe(workers: Pick<ExportWorkers, 'queued' | 'running'>): void;
}

/** Creates the metrics of the export service. */
export function createExportMetrics(meters: Meters): ExportMetrics {
  const duration = meters.histogram(metrics.duration);
  const rejected = meters.counter(metrics.rejected);
  return {
    recordExport: ({ format, bytes, seconds }) => duration({ format, size: getSizeClass(bytes) }, seconds),
    countRejected: (reason) => rejected({ reason }),
    observe(workers) {
      meters.gauge(metrics.queued, () => workers.queued());
      meters.gauge(metrics.running, () => workers.running());
    },
  };
}

function getSizeClass(bytes: number): 'small' | 'medium' | 'large' {
  if (bytes <= 64 * 1024) return 'small';
  return bytes <= 2 ** 20 ? 'medium' : 'large';
}
