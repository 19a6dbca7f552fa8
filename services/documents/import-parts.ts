/** Creates what imports need: the worker pool and its metrics. */
import type { z } from 'zod';
import type { Log, Meters } from '#libs/service';
import { createImportMetrics } from './import-metrics.ts';
import { createImportWorkers } from './imports/import-workers.ts';
import type { documentSettings } from './settings.ts';

/** What the parts are created from. */
interface ImportContext {
  settings: z.infer<typeof documentSettings>;
  log: Log;
  meters: Meters;
}

/** Returns the dependencies of the handlers, and `importWorker`, which ends the pool. */
export function createImportParts({ settings, log, meters }: ImportContext) {
  const importMetrics = createImportMetrics(meters);
  const limits = {
    workers: settings.IMPORT_WORKERS,
    maxQueue: settings.IMPORT_MAX_QUEUE,
    timeoutSeconds: settings.IMPORT_TIMEOUT_SECONDS,
    memoryMb: settings.IMPORT_WORKER_MEMORY_MB,
  };
  const importWorkers = createImportWorkers(limits, {
    onError: (error) => log.error({ err: error }, 'Import worker exited unexpectedly'),
    onRejected: importMetrics.countRejected,
  });
  importMetrics.observe(importWorkers);
  const importWorker = { start() {}, stop: () => importWorkers.close() };
  return { importWorkers, importMetrics, importWorker };
}
