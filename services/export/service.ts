/** The export service: its settings and its wiring. */
import { z } from 'zod';
import { every, integer, seconds, service } from '#libs/service';
import { createPrincipalReader } from '../identity/contract.ts';
import { exportContract } from './contract.ts';
import { exports } from './exports.ts';
import { exportMetrics, metering } from './metrics.ts';
import { documentStore } from './store/documents.ts';
import { orphanedFiles } from './store/orphaned-files.ts';
import { templates as templateRows, templateStore } from './store/templates.ts';
import { templating } from './templates.ts';
import { threads } from './threads/pool.ts';

const hourMs = 60 * 60 * 1000;
const atLeastOne = integer.pipe(z.number().min(1).max(65_536));

/** Documents as Word files and as Markdown. */
export const exporting = service({
  contract: exportContract,
  settings: z.object({
    EXPORT_CACHE_MB: atLeastOne.default(64).meta({ description: 'Memory for files that were made' }),
    EXPORT_MAX_DOCUMENT_MB: atLeastOne
      .default(64)
      .meta({ description: 'The most that the nodes of a document may take to be exported' }),
    EXPORT_WORKERS: atLeastOne
      .default(1)
      .meta({ description: 'Files made and templates examined at once, each in a thread' }),
    EXPORT_WORKER_MEMORY_MB: atLeastOne
      .default(512)
      .meta({ description: 'JavaScript memory of such a thread' }),
    EXPORT_MAX_QUEUE: integer.default(256).meta({ description: 'How many may wait for a thread' }),
    EXPORT_TIMEOUT_SECONDS: seconds
      .pipe(z.number().positive())
      .default(60)
      .meta({ description: 'How long a file may take, with its waiting' }),
  }),
  collections: [templateRows],
  metrics: exportMetrics,
  start({ store, mongodb, settings, log, now, meters }) {
    const metered = metering(meters);
    const limits = {
      threads: settings.EXPORT_WORKERS,
      waiting: settings.EXPORT_MAX_QUEUE,
      seconds: settings.EXPORT_TIMEOUT_SECONDS,
      memoryMb: settings.EXPORT_WORKER_MEMORY_MB,
    };
    const pool = threads(limits, mongodb, {
      onError: (error) => log.error({ err: error }, 'A thread ended by itself'),
      refused: metered.refused,
    });
    metered.watch(pool);
    const templates = templateStore(store, (what, error) => log.warn({ err: error }, what));
    const sweepOrphanedFiles = orphanedFiles(store, now);
    const sweep = async () => {
      const files = await sweepOrphanedFiles();
      if (files > 0) log.info({ files }, 'Files of templates that were never finished are removed');
    };
    return {
      routes: [
        ...templating({ templates, threads: pool, now }),
        ...exports({
          documents: documentStore(store),
          templates,
          threads: pool,
          cacheBytes: settings.EXPORT_CACHE_MB * 2 ** 20,
          maxBytes: settings.EXPORT_MAX_DOCUMENT_MB * 2 ** 20,
          metering: metered,
        }),
      ],
      authenticate: createPrincipalReader(store, now),
      workers: [
        every(hourMs, sweep, (error) => log.warn({ err: error }, 'Template files could not be swept')),
        { start() {}, stop: () => pool.close() },
      ],
    };
  },
});
