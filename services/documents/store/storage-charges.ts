/**
 * Charges documents to a counter of their organization, if its plan limits documents (docs/adr/0037). The row of a
 * document says what the counter contains for it, and both change in one transaction.
 */
import { createBoundedCache } from '#libs/http';
import type { Actor, Store, Transaction } from '#libs/store';
import { getLimit } from '../../identity/contract.ts';
import type { StorageQuota } from '../../identity/storage-quota.ts';
import type { TreeSize } from '../rules/hierarchy.ts';
import { blockBytes, countBlocks } from '../rules/storage-size.ts';
import { type DocumentRow, documents, type StorageUsageRow, storageUsage } from './collections.ts';
import type { Change } from './document-change.ts';
import { createStorageRecount } from './storage-recount.ts';

/** The field of a document's row that says what it is charged with; empty if the charge does not change. */
export type Charged = Pick<DocumentRow, 'charged_blocks'>;

/** Charges the documents of one request. Both functions throw `StorageQuotaExhausted`. */
export interface StorageCharge {
  /** If false, a new document needs no transaction for its charge. */
  readonly isLimited: boolean;
  /** Charges a new document. */
  add(size: TreeSize, tx: Transaction | undefined): Promise<Charged>;
  /** Charges the new size of a document, which is always possible if it does not grow. */
  resize(document: DocumentRow, size: TreeSize, tx: Transaction | undefined): Promise<Charged>;
}

/** An actor whose request may store documents or change their size. */
export interface ChargedActor extends Actor {
  readonly charge: StorageCharge;
}

/** A number of documents and their blocks. */
type Amount = Pick<StorageUsageRow, 'documents' | 'blocks'>;

/** How long a process relies on the charges of an organization being complete, ms. */
const completeForMs = 5_000;

/** Nothing is charged: neither plan nor counter cost a command. */
const unlimited: StorageCharge = {
  isLimited: false,
  add: async () => ({}),
  resize: async () => ({}),
};

/** Creates the store of charges. */
export function storageCharges(store: Store, quota: StorageQuota, now: () => Date) {
  const rows = { documents: store.rows(documents), usage: store.rows(storageUsage) };
  const chargeAll = createStorageRecount(store, now);
  const complete = createBoundedCache<string, number>(10_000, completeForMs);

  return {
    /**
     * Prepares to charge documents, outside of any transaction. Charges all documents of an organization whose plan
     * became limited.
     */
    async prepare({ organization_id }: Actor): Promise<StorageCharge> {
      const { limits, version } = await quota.recall(organization_id);
      if (getLimit(limits, 'documents') === null && getLimit(limits, 'document_bytes') === null)
        return unlimited;
      if (complete.get(organization_id) !== version) {
        await store.withLock(`${organization_id}:recount`, () => chargeAll(organization_id, version));
        complete.set(organization_id, version);
      }
      return createCharge(organization_id);
    },

    /** Gives back what a deleted document is charged with. */
    async release({ organization_id, charged_blocks }: DocumentRow, { session }: Transaction): Promise<void> {
      if (charged_blocks === undefined) return;
      const change = { documents: -1, blocks: -charged_blocks };
      await rows.usage.updateOne({ _id: organization_id }, { $inc: change }, { session });
    },
  };

  function createCharge(organizationId: string): StorageCharge {
    return {
      isLimited: true,
      async add(size, tx) {
        const added = { documents: 1, blocks: countBlocks(size) };
        await change(organizationId, added, added, tx);
        return { charged_blocks: added.blocks };
      },
      async resize(document, size, tx) {
        const [before, blocks] = [countBlocks(document), countBlocks(size)];
        if (blocks === before) return {};
        const { charged_blocks = 0 } = document;
        const documents = document.charged_blocks === undefined ? 1 : 0;
        const needed = { documents: 0, blocks: Math.max(0, blocks - before) };
        await change(organizationId, { documents, blocks: blocks - charged_blocks }, needed, tx);
        return { charged_blocks: blocks };
      },
    };
  }

  /**
   * Changes the counter if there is as much space below the limits as `needed`. The charge of a document that does not
   * grow needs none, although it may add to the counter.
   */
  async function change(
    organizationId: string,
    added: Amount,
    needed: Amount,
    tx: Transaction | undefined,
  ): Promise<void> {
    if (!tx) throw new Error('A document is charged in the transaction that changes it');
    const { session } = tx;
    const { limits } = await quota.read(organizationId);
    const [maxDocuments, maxBytes] = [getLimit(limits, 'documents'), getLimit(limits, 'document_bytes')];
    const maxBlocks = maxBytes === null ? null : Math.floor(maxBytes / blockBytes);
    const hasSpace = {
      _id: organizationId,
      ...(needed.documents > 0 &&
        maxDocuments !== null && { documents: { $lte: maxDocuments - needed.documents } }),
      ...(needed.blocks > 0 && maxBlocks !== null && { blocks: { $lte: maxBlocks - needed.blocks } }),
    };
    const { matchedCount } = await rows.usage.updateOne(hasSpace, { $inc: added }, { session });
    if (matchedCount === 1) return;
    const used = await rows.usage.findOne({ _id: organizationId }, null, { session }).lean();
    if (!used) throw new Error(`The organization ${organizationId} has no counter of its documents`);
    const hasTooMany =
      needed.documents > 0 && maxDocuments !== null && used.documents + needed.documents > maxDocuments;
    throw hasTooMany
      ? quota.reject({
          name: 'documents',
          limit: maxDocuments,
          used: used.documents,
          needed: needed.documents,
        })
      : quota.reject({
          ...{ name: 'document_bytes', limit: maxBytes ?? 0 },
          ...{ used: used.blocks * blockBytes, needed: needed.blocks * blockBytes },
        });
  }
}

/** Charges the size that a change sets. Most changes set none. */
export async function chargeSize(
  { charge, tx }: Actor & Partial<ChargedActor>,
  document: DocumentRow,
  change: Change,
): Promise<Charged> {
  if (change.node_count === undefined && change.content_bytes === undefined) return {};
  if (!charge) throw new Error('A change of the size needs an actor of `respond`');
  const { node_count, content_bytes } = { ...document, ...change };
  return charge.resize(document, { node_count, content_bytes }, tx);
}

export type StorageCharges = ReturnType<typeof storageCharges>;
