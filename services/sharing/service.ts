/** The sharing service: its settings and its wiring. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { appUrl, integer, service } from '#libs/service';
import { createPrincipalReader } from '../identity/contract.ts';
import { sharingContract } from './contract.ts';
import { embedding } from './embedding.ts';
import { deleteDeadTokens } from './forgetting.ts';
import { links } from './links.ts';
import { responseCounter, sharingMetrics } from './metrics.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { tokenFrom } from './rules.ts';
import { shareTokens, sharingStore } from './store.ts';

/** Public links to published documents. */
export const sharing = service({
  contract: sharingContract,
  settings: z.object({
    APP_URL: appUrl.meta({ description: 'Where people reach the application; the start of public links' }),
    EMBED_CACHE_MB: integer
      .pipe(z.number().min(1).max(65_536))
      .default(64)
      .meta({ description: 'Memory for rendered public documents' }),
    EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: integer
      .default(60)
      .meta({ description: 'Public links that are not there, asked for by one address; 0 is no limit' }),
  }),
  collections: [shareTokens],
  metrics: sharingMetrics,
  start({ store, settings, now, meters }) {
    const rows = sharingStore(store);
    const newToken = () => tokenFrom(randomBytes(32));
    return {
      routes: [
        ...links({ store, sharing: rows, now, newToken, appUrl: settings.APP_URL }),
        ...embedding({
          sharing: rows,
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
