/** Opens the stores of any number of replicas of documents for tests. */
import type { Store } from '#libs/store';
import { createStorageQuota } from '../../identity/storage-quota.ts';
import { type OpenStores, openStores } from '../../testing/open-stores.ts';
import { documentsContract as contract } from '../contract.ts';
import { assets } from '../store/assets.ts';
import { documentCollections as collections } from '../store/collections.ts';
import { documentRepository } from '../store/document-repository.ts';
import { search } from '../store/search.ts';
import { storageCharges } from '../store/storage-charges.ts';
import { trees } from '../store/tree.ts';

export type DocumentStores = OpenStores;

/** Opens the stores of this number of replicas. */
export function openDocumentStores(replicas = 1): Promise<DocumentStores> {
  return openStores({ contract, collections }, replicas);
}

/** Creates a document repository of a replica. Organizations without a plan have no limits. */
export function createTestRepository(store: Store, now = () => new Date()) {
  const meters = { counter: () => () => undefined, histogram: () => () => undefined, gauge: () => undefined };
  const quota = createStorageQuota(store, meters);
  const charges = storageCharges(store, quota, now);
  const stores = { trees: trees(store), search: search(store), charges, assets: assets(store, quota, now) };
  return documentRepository(store, stores, now);
}
