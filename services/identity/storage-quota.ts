/**
 * The storage quota: reads the limits of an organization through a view, claims places of limits that count rows, and
 * counts rejections. Every service with a limit imports this module.
 */
import type { Problem } from '#libs/contract';
import { createBoundedCache } from '#libs/http';
import { counter, type Meters } from '#libs/service';
import type { Actor, Store, Transaction } from '#libs/store';
import { StorageQuotaExhausted } from './problems.ts';
import {
  describeExhaustion,
  getLimit,
  type StorageDemand,
  type StorageLimitName,
  type StorageLimits,
  storageLimitNames,
} from './rules/storage-limits.ts';
import { subscriptionTerms } from './views.ts';

/** The metric of rejected requests, which every service with a limit lists. */
export const quotaRejections = counter({
  name: 'quota_rejections_total',
  help: 'Requests rejected because a storage limit of the plan was reached, by limit',
  labels: { limit: storageLimitNames },
});

/** The limits of an organization. */
export interface StorageTerms {
  limits: StorageLimits;
  /** Incremented whenever the plan is set. */
  version: number;
}

/** How long the limits are recalled, ms. A new limit may take this long to apply; a removed one applies at once. */
const recallMs = 5_000;

/** Creates the storage quota of a service that lists `quotaRejections` in its metrics. */
export function createStorageQuota(store: Pick<Store, 'read' | 'lockRow'>, meters: Meters) {
  const terms = store.read(subscriptionTerms);
  const countRejection = meters.counter(quotaRejections);
  const recalled = createBoundedCache<string, StorageTerms>(10_000, recallMs);

  return {
    /** Returns the limits as they were at most five seconds ago, so that unlimited plans cost no query. */
    recall: async (organizationId: string): Promise<StorageTerms> =>
      recalled.get(organizationId) ?? (await read(organizationId)),

    /** Reads the current limits. */
    read,

    /** Counts a rejected request and creates its problem. */
    reject,

    /**
     * Claims a place in the transaction of a creation, before the row is inserted. Creations of one organization run
     * one after the other, so that `count`, which counts in the transaction, includes all earlier ones. Throws
     * `StorageQuotaExhausted`. An unlimited plan costs nothing.
     */
    async claim(
      { organization_id, tx }: Actor & { tx: Transaction },
      name: StorageLimitName,
      count: () => Promise<number>,
      needed = 1,
    ): Promise<void> {
      const { limits } = recalled.get(organization_id) ?? (await read(organization_id));
      if (getLimit(limits, name) === null) return;
      await store.lockRow(`${organization_id}:${name}`, tx);
      const limit = getLimit((await read(organization_id)).limits, name);
      if (limit === null) return;
      const used = await count();
      if (used + needed > limit) throw reject({ name, limit, used, needed });
    },
  };

  async function read(organizationId: string): Promise<StorageTerms> {
    const row = await terms.in(organizationId).one({});
    const found = { limits: row?.storage_limits ?? {}, version: row?.terms_version ?? 0 };
    recalled.set(organizationId, found);
    return found;
  }

  function reject(demand: StorageDemand): Problem {
    countRejection({ limit: demand.name });
    const { name, limit, used } = demand;
    return StorageQuotaExhausted(describeExhaustion(demand), { extra: { storage_limit: name, limit, used } });
  }
}

export type StorageQuota = ReturnType<typeof createStorageQuota>;
