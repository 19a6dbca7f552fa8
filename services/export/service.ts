/** The export service: its settings, and how its parts are created and connected. */
import { every, service } from '#libs/service';
import { createPrincipalReader } from '../identity/principal.ts';
import { createStorageQuota, quotaRejections } from '../identity/storage-quota.ts';
import { exportContract } from './contract.ts';
import { exportHandlers } from './exports.ts';
import { libraryHandlers } from './library/exporting-library.ts';
import { createExportMetrics, exportMetrics } from './metrics.ts';
import { exportSettings } from './settings.ts';
import { documentStore } from './store/documents.ts';
import { libraryStore } from './store/library.ts';
import { createOrphanedFileSweep } from './store/orphaned-files.ts';
import { recordStore } from './store/records.ts';
import { templates as templateRows, templateStore } from './store/templates.ts';
import { templateHandlers } from './templates.ts';
import { createExportWorkers } from './workers/export-workers.ts';

const hourMs = 60 * 60 * 1000;

/** The service that exports documents as Word, Markdown and HTML files. */
export const exporting = service({
  contract: exportContract,
  settings: exportSettings,
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
          records: recordStore(store),
          templates,
          workers,
          cacheBytes: settings.EXPORT_CACHE_MB * 2 ** 20,
          maxBytes: settings.EXPORT_MAX_DOCUMENT_MB * 2 ** 20,
          metrics,
          now,
          appUrl: settings.APP_URL,
        }),
        ...libraryHandlers({
          store,
          documents: documentStore(store),
          library: libraryStore(store),
          workers,
          maxBytes: settings.EXPORT_MAX_DOCUMENT_MB * 2 ** 20,
          now,
          onError: (error) => log.warn({ err: error }, 'Could not complete the export of a library'),
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
