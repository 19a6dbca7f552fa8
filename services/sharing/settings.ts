/** The settings of the sharing service. */
import { z } from 'zod';
import { appUrl, count, integer, passwordHashConcurrency } from '#libs/service';

/** The environment variables, with their defaults. */
export const sharingSettings = z.object({
  APP_URL: appUrl.meta({ description: 'Public URL of the application; public links start with it' }),
  EMBED_CACHE_MB: integer
    .pipe(z.number().min(1).max(65_536))
    .default(64)
    .meta({ description: 'Memory for rendered public documents and their pictures, in MB' }),
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: count.default(60).meta({
    description:
      'Requests for unknown public links that one address may send per minute; 0 disables the limit',
  }),
  PASSWORD_HASH_CONCURRENCY: passwordHashConcurrency,
});
