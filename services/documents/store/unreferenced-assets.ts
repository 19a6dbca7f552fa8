/** Finds and deletes assets that no node references, in all organizations. */
import type { Store } from '#libs/store';
import { unreferencedMaxMs } from '../rules/asset-references.ts';
import { type AssetRow, assetFiles, assets, nodes } from './collections.ts';

/** The asset of an organization. */
export type AssetKey = Pick<AssetRow, '_id' | 'organization_id' | 'asset_id'>;

/** Creates the store of unreferenced assets. */
export function createUnreferencedAssets(store: Store, now: () => Date) {
  const rows = store.collection(assets);
  const files = store.collection(assetFiles);
  const nodeRows = store.collection(nodes);
  const keyFields = { organization_id: 1, asset_id: 1 } as const;

  return {
    /**
     * Marks the assets that no node references with the current time. A node that references one meanwhile does not
     * matter: `deleteIfDue` looks again.
     */
    async mark(): Promise<void> {
      const unmarked = { unreferenced_at: { $exists: false } };
      const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
      const cursor = rows.aggregate<Pick<AssetRow, '_id'>>([
        { $match: unmarked },
        {
          $lookup: {
            ...{ from: nodes.name, localField: 'asset_id', foreignField: 'asset_ids', as: 'nodes' },
            let: { organization_id: '$organization_id' },
            pipeline: [{ $match: sameOrganization }, { $limit: 1 }, { $project: { _id: 1 } }],
          },
        },
        { $match: { nodes: [] } },
        { $project: { _id: 1 } },
      ]);
      for await (const { _id } of cursor)
        await rows.updateOne({ _id, ...unmarked }, { $set: { unreferenced_at: now() } });
    },

    /** Finds the assets that have been unreferenced for 24 hours, longest first. */
    findDue(limit: number): Promise<AssetKey[]> {
      const due = { unreferenced_at: { $lte: getDueTime() } };
      const options = { projection: keyFields, sort: { unreferenced_at: 1 }, limit } as const;
      return rows.find(due, options).toArray();
    },

    /**
     * Deletes an asset that is still due, and returns whether it did. If a node references it after all, it is kept.
     * A write that references it at the same time conflicts with this transaction.
     */
    deleteIfDue({ _id, organization_id, asset_id }: AssetKey): Promise<boolean> {
      const system = { organization_id, user_id: null };
      const due = { _id, unreferenced_at: { $lte: getDueTime() } };
      return store.transact(system, async ({ session }) => {
        const options = { projection: { _id: 1 }, session } as const;
        if (await nodeRows.findOne({ asset_ids: asset_id, organization_id }, options)) {
          await rows.updateOne(due, { $unset: { unreferenced_at: 1 } }, { session });
          return false;
        }
        const { deletedCount } = await rows.deleteOne(due, { session });
        if (deletedCount === 1) await files.deleteOne({ _id }, { session });
        return deletedCount === 1;
      });
    },
  };

  function getDueTime(): Date {
    return new Date(now().getTime() - unreferencedMaxMs);
  }
}

export type UnreferencedAssets = ReturnType<typeof createUnreferencedAssets>;
