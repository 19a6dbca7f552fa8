/** Charges all documents of an organization to its counter, after its plan became limited. */
import type { Store, Transaction } from '#libs/store';
import { countBlocks } from '../rules/storage-size.ts';
import { blocksExpression } from '../views.ts';
import { documents, storageUsage } from './collections.ts';

/** Documents that are charged in one transaction. */
const batchSize = 500;

/**
 * When the documents are charged a second time, ms after the first. By then no process relies on an older plan any
 * more, and transactions that began before have ended.
 */
const recountMs = 30_000;

/** The Mongoose option that allows a pipeline as an update. */
const updatePipeline = true;

/**
 * Creates the function that charges all documents of an organization, unless that was done for this version of its
 * plan or a later one. Several processes may run it at the same time, and it may be interrupted.
 */
export function createStorageRecount(store: Store, now: () => Date) {
  const rows = { documents: store.rows(documents), usage: store.rows(storageUsage) };

  return async (organization_id: string, version: number): Promise<void> => {
    const counter = await rows.usage.findOne({ _id: organization_id }).lean();
    const isNew = counter === null || counter.terms_version < version;
    const isDue = counter?.recount_at !== undefined && counter.recount_at <= now();
    if (!isNew && !isDue) return;
    if (counter === null) await createCounter(organization_id);
    await chargeDocuments(organization_id);
    const done = isNew
      ? { $set: { terms_version: version, recount_at: new Date(now().getTime() + recountMs) } }
      : { $unset: { recount_at: 1 } };
    await rows.usage.updateOne({ _id: organization_id }, done);
  };

  async function createCounter(_id: string): Promise<void> {
    const empty = { documents: 0, blocks: 0, terms_version: 0 };
    await rows.usage.updateOne({ _id }, { $setOnInsert: empty }, { upsert: true });
  }

  async function chargeDocuments(organization_id: string): Promise<void> {
    const outdated = { organization_id, $expr: { $ne: ['$charged_blocks', blocksExpression] } };
    const found = await rows.documents.find(outdated, { _id: 1 }).lean();
    const ids = found.map(({ _id }) => _id);
    for (let from = 0; from < ids.length; from += batchSize) {
      const batch = ids.slice(from, from + batchSize);
      await store.transact({ organization_id, user_id: null }, (tx) =>
        chargeBatch(organization_id, batch, tx),
      );
    }
  }

  /** Charges documents with their current sizes. A concurrent change of one of them conflicts with the transaction. */
  async function chargeBatch(
    organization_id: string,
    ids: readonly string[],
    { session }: Transaction,
  ): Promise<void> {
    const filter = { _id: { $in: [...ids] }, organization_id };
    const fields = { charged_blocks: 1, node_count: 1, content_bytes: 1 } as const;
    const batch = await rows.documents.find(filter, fields, { session }).lean();
    const added = { documents: 0, blocks: 0 };
    for (const document of batch) {
      if (document.charged_blocks === undefined) added.documents += 1;
      added.blocks += countBlocks(document) - (document.charged_blocks ?? 0);
    }
    const charge = [{ $set: { charged_blocks: blocksExpression } }];
    await rows.documents.updateMany(filter, charge, { session, updatePipeline });
    await rows.usage.updateOne({ _id: organization_id }, { $inc: added }, { session });
  }
}
