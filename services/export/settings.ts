/** The settings of the export service. */
import { z } from 'zod';
import { appUrl, count, integer, timeLimit } from '#libs/service';

const atLeast = (min: number) => integer.pipe(z.number().min(min).max(65_536));

/** The settings of the export service. */
export const exportSettings = z.object({
  APP_URL: appUrl.meta({ description: 'Public URL of the application; public links start with it' }),
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
  EXPORT_MAX_QUEUE: count.default(256).meta({
    description:
      'Maximum number of exports and template checks that wait for a worker; three quarters for one organization',
  }),
  EXPORT_TIMEOUT_SECONDS: timeLimit
    .default(60)
    .meta({ description: 'Time limit of an export or template check, including its time in the queue' }),
});
