/** Defines the sharing service: its settings, and how its parts are connected. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { renderCache } from '#libs/http';
import { appUrl, count, integer, passwordHashConcurrency, service } from '#libs/service';
import { createPasswordHasher, type ScryptCost } from '#libs/workers';
import { createPrincipalReader } from '../identity/principal.ts';
import { sharingContract } from './contract.ts';
import { deleteDeadTokens } from './dead-tokens.ts';
import { embedRoutes } from './embedding.ts';
import { createAssetReader } from './link-assets.ts';
import { linkRoutes } from './links.ts';
import { assetCounter, passwordCheckCounter, responseCounter, sharingMetrics } from './metrics.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { linkAccess } from './passwords/access.ts';
import { passwordAttempts } from './passwords/attempts.ts';
import { passwordCheck } from './passwords/check.ts';
import { linkCookies } from './passwords/cookies.ts';
import { encodeToken } from './rules.ts';
import { shareTokens, sharingStore } from './store.ts';

/** Creates the service, which serves public links to published documents. Only tests choose the cost of a hash. */
export const createSharing = (passwordCost?: ScryptCost) =>
  service({
    contract: sharingContract,
    settings: z.object({
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
    }),
    collections: [shareTokens],
    metrics: sharingMetrics,
    start({ store, settings, now, meters, deriveKeyring }) {
      const { APP_URL, EMBED_CACHE_MB, EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: perMinute } = settings;
      const rows = sharingStore(store);
      const cache = renderCache(EMBED_CACHE_MB * 2 ** 20);
      const nowMs = () => now().getTime();
      const passwords = createPasswordHasher({
        concurrency: settings.PASSWORD_HASH_CONCURRENCY,
        cost: passwordCost,
      });
      const check = passwordCheck({
        passwords,
        attempts: passwordAttempts({ now: nowMs }),
        cacheKey: randomBytes(32),
        now: nowMs,
        count: passwordCheckCounter(meters),
      });
      const deps = { store, sharing: rows, passwords, now, appUrl: APP_URL };
      return {
        routes: [
          ...linkRoutes({ ...deps, newToken: () => encodeToken(randomBytes(32)) }),
          ...embedRoutes({
            ...deps,
            cache,
            countResponse: responseCounter(meters),
            readAsset: createAssetReader(rows, cache, assetCounter(meters)),
            limit: notFoundLimit({ perMinute, now: nowMs }),
            access: linkAccess({ check, cookies: linkCookies(deriveKeyring('link cookies'), nowMs) }),
          }),
        ],
        subscribers: deleteDeadTokens({ store, sharing: rows }),
        authenticate: createPrincipalReader(store, now),
      };
    },
  });

export const sharing = createSharing();
