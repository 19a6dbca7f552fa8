/** Defines the sharing service: its settings, and how its parts are connected. */
import { randomBytes } from 'node:crypto';
import { renderCache } from '#libs/http';
import { service } from '#libs/service';
import { createPasswordHasher, type ScryptCost } from '#libs/workers';
import { createPrincipalReader } from '../identity/principal.ts';
import { acknowledgementHandlers } from './acknowledgements/acknowledging.ts';
import { announceAcknowledgements } from './acknowledgements/announcing.ts';
import { followRenames } from './acknowledgements/department-renames.ts';
import { overdueWorker } from './acknowledgements/overdue.ts';
import { peopleHandlers } from './acknowledgements/people.ts';
import { readingRoutes } from './acknowledgements/reading.ts';
import { requestHandlers } from './acknowledgements/requesting.ts';
import { sharingContract } from './contract.ts';
import { deleteDeadTokens } from './dead-tokens.ts';
import { embedRoutes } from './embedding.ts';
import { createAssetReader } from './link-assets.ts';
import { linkRoutes } from './links.ts';
import {
  acknowledgementCounter,
  assetCounter,
  passwordCheckCounter,
  registerDueChecks,
  responseCounter,
  sharingMetrics,
} from './metrics.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { linkAccess } from './passwords/access.ts';
import { passwordAttempts } from './passwords/attempts.ts';
import { passwordCheck } from './passwords/check.ts';
import { linkCookies } from './passwords/cookies.ts';
import { encodeToken } from './rules/links.ts';
import { sharingSettings } from './settings.ts';
import { acknowledgementStores } from './store/acknowledgement-stores.ts';
import { sharingCollections } from './store/collections.ts';
import { sharingStore } from './store/share-tokens.ts';

/** Creates the service, which serves public links to published documents. Only tests choose the cost of a hash. */
export const createSharing = (passwordCost?: ScryptCost) =>
  service({
    contract: sharingContract,
    settings: sharingSettings,
    collections: sharingCollections,
    metrics: sharingMetrics,
    start({ store, settings, now, log, meters, deriveKeyring }) {
      const { APP_URL, EMBED_CACHE_MB, EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: perMinute } = settings;
      const rows = sharingStore(store);
      const cache = renderCache(EMBED_CACHE_MB * 2 ** 20);
      const nowMs = () => now().getTime();
      const hashing = { concurrency: settings.PASSWORD_HASH_CONCURRENCY, cost: passwordCost };
      const passwords = createPasswordHasher(hashing);
      const check = passwordCheck({
        passwords,
        ...{ attempts: passwordAttempts({ now: nowMs }), cacheKey: randomBytes(32), now: nowMs },
        count: passwordCheckCounter(meters),
      });
      const deps = {
        ...{ store, sharing: rows, passwords, now, appUrl: APP_URL },
        newToken: () => encodeToken(randomBytes(32)),
        ...{ cache, readAsset: createAssetReader(rows, cache, assetCounter(meters)) },
        ...{ countResponse: responseCounter(meters), limit: notFoundLimit({ perMinute, now: nowMs }) },
        access: linkAccess({ check, cookies: linkCookies(deriveKeyring('link cookies'), nowMs) }),
        ...{ ...acknowledgementStores(store), count: acknowledgementCounter(meters) },
      };
      registerDueChecks(meters, deps.requests, now);
      const onError = (message: string, error: unknown) => log.warn({ err: error }, message);
      return {
        routes: [
          ...[linkRoutes, embedRoutes, requestHandlers, peopleHandlers],
          ...[acknowledgementHandlers, readingRoutes],
        ].flatMap((createRoutes) => createRoutes(deps)),
        subscribers: [...deleteDeadTokens(deps), ...announceAcknowledgements(deps), ...followRenames(deps)],
        authenticate: createPrincipalReader(store, now),
        workers: [overdueWorker({ ...deps, onError })],
      };
    },
  });

export const sharing = createSharing();
