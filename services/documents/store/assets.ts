/** Reads and writes assets in MongoDB. Everything that a write names gets its `unreferenced_at` removed. */
import { listErrors } from '#libs/contract';
import type { Picture } from '#libs/pictures';
import type { AssetReference } from '#libs/rich-text';
import { type Actor, newBinary, type Store, type Transaction } from '#libs/store';
import type { StorageQuota } from '../../identity/storage-quota.ts';
import { toAssetKey } from '../asset-views.ts';
import { UnknownAssets } from '../problems.ts';
import { type AssetRow, assetFiles, assets as assetRows } from './collections.ts';

/** A picture to store, with the id of its bytes. */
export interface NewAsset extends Picture {
  id: string;
}

/** Creates the store of assets. */
export function assets(store: Store, quota: Pick<StorageQuota, 'claim'>, now: () => Date) {
  const driver = { assets: store.collection(assetRows), files: store.collection(assetFiles) };

  return {
    /**
     * Stores an asset unless the organization has it, and returns the reply. Without a reference it is kept for another
     * 24 hours. `isNew` says whether it was stored now. Throws `StorageQuotaExhausted`, like `addAll`.
     */
    async add<R>(actor: Actor, asset: NewAsset, reply: (row: AssetRow) => R) {
      let isNew = false;
      const result = await store.withLock(toAssetKey(actor.organization_id, asset.id), () =>
        store.respond(actor, async (_within, tx) => {
          const saved = await save(actor.organization_id, asset, tx);
          isNew = saved.isNew;
          return reply(saved.row);
        }),
      );
      return { result, isNew };
    },

    /** Stores the assets that the organization does not have, one by one, like `add`. */
    async addAll(actor: Actor, pictures: readonly NewAsset[]): Promise<void> {
      const { organization_id } = actor;
      for (const asset of pictures)
        await store.withLock(toAssetKey(organization_id, asset.id), () =>
          store.transact(actor, (tx) => save(organization_id, asset, tx)),
        );
    },

    /** Returns the bytes of an asset with their type; undefined if the organization does not have it. */
    async findFile({ organization_id }: Actor, id: string) {
      return (await driver.files.findOne({ _id: toAssetKey(organization_id, id) })) ?? undefined;
    },

    /** Returns whether the organization has an asset. */
    async exists({ organization_id }: Actor, id: string): Promise<boolean> {
      const filter = { _id: toAssetKey(organization_id, id) };
      return (await driver.assets.findOne(filter, { projection: { _id: 1 } })) !== null;
    },

    /**
     * Keeps the assets that a request references in the transaction of its change, or throws `UnknownAssets` with the
     * path of each reference to another one.
     */
    async reference(
      { organization_id }: Actor,
      references: readonly AssetReference[],
      tx: Transaction,
    ): Promise<void> {
      if (references.length === 0) return;
      const known = await keep(
        organization_id,
        references.flatMap(({ id }) => id ?? []),
        tx,
      );
      const unknown = references.filter(({ id }) => id === undefined || !known.has(id));
      if (unknown.length === 0) return;
      const message = 'Your organization has no asset with this id';
      throw listErrors(
        UnknownAssets,
        unknown.map(({ path }) => ({ path, message })),
      );
    },

    /** Keeps the assets that copied nodes reference. */
    async keepAll({ organization_id }: Actor, ids: readonly string[], tx: Transaction): Promise<void> {
      if (ids.length > 0) await keep(organization_id, ids, tx);
    },
  };

  /** Returns the size of all assets of the organization, bytes. */
  async function sumBytes(organization_id: string, { session }: Transaction): Promise<number> {
    const sum = { $group: { _id: null, bytes: { $sum: '$size_bytes' } } } as const;
    const stages = [{ $match: { organization_id } }, sum];
    const [found] = await driver.assets.aggregate<{ bytes: number }>(stages, { session }).toArray();
    return found?.bytes ?? 0;
  }

  /** Another replica that stores the asset at the same time conflicts, and one of the transactions is repeated. */
  async function save(
    organization_id: string,
    { id: asset_id, mediaType: media_type, width, height, bytes }: NewAsset,
    tx: Transaction,
  ): Promise<{ row: AssetRow; isNew: boolean }> {
    const { session } = tx;
    const _id = toAssetKey(organization_id, asset_id);
    const existing = await driver.assets.findOne({ _id }, { session });
    const unreferenced_at = now();
    if (existing) {
      const unreferenced = { _id, unreferenced_at: { $exists: true } };
      await driver.assets.updateOne(unreferenced, { $set: { unreferenced_at } }, { session });
      return { row: existing, isNew: false };
    }
    const within = { organization_id, user_id: null, tx };
    await quota.claim(within, 'asset_bytes', () => sumBytes(organization_id, tx), bytes.byteLength);
    const row: AssetRow = {
      ...{ _id, organization_id, asset_id, media_type, width, height },
      ...{ size_bytes: bytes.byteLength, created_at: unreferenced_at, unreferenced_at },
    };
    const file = { _id, organization_id, asset_id, media_type, bytes: newBinary(bytes) };
    await driver.assets.insertOne(row, { session });
    await driver.files.insertOne(file, { session });
    return { row, isNew: true };
  }

  /**
   * Removes `unreferenced_at` and returns the ids that the organization has. The worker that deletes assets writes the
   * same field, so one of both transactions is repeated, and sees what the other one has done.
   */
  async function keep(
    organizationId: string,
    ids: readonly string[],
    { session }: Transaction,
  ): Promise<ReadonlySet<string>> {
    const keys = [...new Set(ids)].map((id) => toAssetKey(organizationId, id));
    const projection = { asset_id: 1, unreferenced_at: 1 };
    const found = await driver.assets.find({ _id: { $in: keys } }, { projection, session }).toArray();
    const unreferenced = found.filter((row) => row.unreferenced_at !== undefined).map(({ _id }) => _id);
    if (unreferenced.length > 0) {
      const update = { $unset: { unreferenced_at: 1 } } as const;
      await driver.assets.updateMany({ _id: { $in: unreferenced } }, update, { session });
    }
    return new Set(found.map(({ asset_id }) => asset_id));
  }
}

export type Assets = ReturnType<typeof assets>;
