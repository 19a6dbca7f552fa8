/** Defines the sharing service: its settings, and how its parts are connected. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { appUrl, count, integer, service } from '#libs/service';
import { createPrincipalReader } from '../identity/principal.ts';
import { sharingContract } from './contract.ts';
import { deleteDeadTokens } from './dead-tokens.ts';
import { embedRoutes } from './embedding.ts';
import { linkRoutes } from './links.ts';
import { responseCounter, sharingMetrics } from './metrics.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { encodeToken } from './rules.ts';
import { shareTokens, sharingStore } from './store.ts';

/** The sharing service; it serves public links to published documents. */
export const sharing = service({
  contract: sharingContract,
  settings: z.object({
    APP_URL: appUrl.meta({ description: 'Public URL of the application; public links start with it' }),
    EMBED_CACHE_MB: integer
      .pipe(z.number().min(1).max(65_536))
      .default(64)
      .meta({ description: 'Memory for rendered public documents, in MB' }),
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: count.default(60).meta({
      description:
        'Requests for unknown public links that one address may send per minute; 0 disables the limit',
    }),
  }),
  collections: [shareTokens],
  metrics: sharingMetrics,
  start({ store, settings, now, meters }) {
    const rows = sharingStore(store);
    const newToken = () => encodeToken(randomBytes(32));
    return {
      routes: [
        ...linkRoutes({ store, sharing: rows, now, newToken, appUrl: settings.APP_URL }),
        ...embedRoutes({
          sharing: rows,
          now,
          cacheBytes: settings.EMBED_CACHE_MB * 2 ** 20,
          countResponse: responseCounter(meters),
          limit: notFoundLimit({
            perMinute: settings.EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE,
            now: () => now().getTime(),
          }),
        }),
      ],
      subscribers: deleteDeadTokens({ store, sharing: rows }),
      authenticate: createPrincipalReader(store, now),
    };
  },
});
