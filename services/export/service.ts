/** The export service: its settings, and how its parts are created and connected. */
import { z } from 'zod';
import { count, every, integer, service, timeLimit } from '#libs/service';
import { createPrincipalReader } from '../identity/principal.ts';
import { createStorageQuota, quotaRejections } from '../identity/storage-quota.ts';
import { exportContract } from './contract.ts';
import { exportHandlers } from './exports.ts';
import { createExportMetrics, exportMetrics } from './metrics.ts';
import { documentStore } from './store/documents.ts';
import { createOrphanedFileSweep } from './store/orphaned-files.ts';
import { templates as templateRows, templateStore } from './store/templates.ts';
import { templateHandlers } from './templates.ts';
import { createExportWorkers } from './workers/export-workers.ts';

const hourMs = 60 * 60 * 1000;
const atLeast = (min: number) => integer.pipe(z.number().min(min).max(65_536));

/** The service that exports documents as Word files and as Markdown. */
export const exporting = service({
  contract: exportContract,
  settings: z.object({
    EXPORT_CACHE_MB: atLeast(1).default(64).meta({ description: 'Memory for cached export files' }),
    EXPORT_MAX_DOCUMENT_MB: atLeast(1)
      .default(64)
      .meta({ description: 'Maximum size of the nodes of a document that is exported' }),
    EXPORT_WORKERS: atLeast(1)
      .default(1)
      .meta({ description: 'Number of export workers; each runs one export or template check at a time' }),
    EXPORT_WORKER_MEMORY_MB: atLeast(32)
      .default(512)
      .meta({ description: 'JavaScript heap limit of each export worker' }),
    EXPORT_MAX_QUEUE: count
      .default(256)
      .meta({ description: 'Maximum number of exports and template checks that wait for a worker' }),
    EXPORT_TIMEOUT_SECONDS: timeLimit
      .default(60)
      .meta({ description: 'Time limit of an export or template check, including its time in the queue' }),
  }),
  collections: [templateRows],
  metrics: [...exportMetrics, quotaRejections],
  start({ store, mongodb, settings, log, now, meters }) {
    const metrics = createExportMetrics(meters);
    const limits = {
      workers: settings.EXPORT_WORKERS,
      maxQueue: settings.EXPORT_MAX_QUEUE,
      timeoutSeconds: settings.EXPORT_TIMEOUT_SECONDS,
      memoryMb: settings.EXPORT_WORKER_MEMORY_MB,
    };
    const workers = createExportWorkers(limits, mongodb, {
      onError: (error) => log.error({ err: error }, 'Export worker exited unexpectedly'),
      onRejected: metrics.countRejected,
    });
    metrics.observe(workers);
    const templates = templateStore(store, (message, error) => log.warn({ err: error }, message));
    const sweepOrphanedFiles = createOrphanedFileSweep(store, now);
    const sweep = async () => {
      const files = await sweepOrphanedFiles();
      if (files > 0) log.info({ files }, 'Deleted orphaned template files');
    };
    return {
      routes: [
        ...templateHandlers({ templates, workers, storageQuota: createStorageQuota(store, meters), now }),
        ...exportHandlers({
          documents: documentStore(store),
          templates,
          workers,
          cacheBytes: settings.EXPORT_CACHE_MB * 2 ** 20,
          maxBytes: settings.EXPORT_MAX_DOCUMENT_MB * 2 ** 20,
          metrics,
        }),
      ],
      authenticate: createPrincipalReader(store, now),
      workers: [
        every(hourMs, sweep, (error) => log.warn({ err: error }, 'Could not delete orphaned template files')),
        { start() {}, stop: () => workers.close() },
      ],
    };
  },
});
