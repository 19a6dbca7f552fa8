/** The settings of the documents service. */
import { z } from 'zod';
import { count, integer, timeLimit } from '#libs/service';

const atLeast = (min: number) => integer.pipe(z.number().min(min).max(65_536));

/** The settings of the documents service. */
export const documentSettings = z.object({
  DOCUMENT_CACHE_MB: atLeast(1)
    .default(32)
    .meta({ description: 'Memory for the cache of rendered documents, MiB' }),
  IMPORT_WORKERS: atLeast(1)
    .default(1)
    .meta({ description: 'Number of import workers; each converts one file at a time' }),
  IMPORT_WORKER_MEMORY_MB: atLeast(32)
    .default(512)
    .meta({ description: 'JavaScript heap limit of each import worker' }),
  IMPORT_MAX_QUEUE: count.default(64).meta({
    description:
      'Maximum number of imports and previews that wait for a worker; three quarters for one organization',
  }),
  IMPORT_TIMEOUT_SECONDS: timeLimit
    .default(60)
    .meta({ description: 'Time limit of the conversion of a file, including its time in the queue' }),
});
