/** Invariants of assets, their bytes, and the nodes that name them. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { toBytes } from '../../../services/documents/asset-views.ts';
import { toAssetIds } from '../../../services/documents/rules/asset-references.ts';
import {
  type AssetFileRow,
  assetFiles,
  assets,
  type NodeRow,
  nodes,
} from '../../../services/documents/store/collections.ts';
import { organizations } from '../../../services/identity/store/collections.ts';
import { type Invariant, reference, rowInvariant, withoutMatch } from './invariant.ts';

/** An asset is deleted 24 hours after an hourly worker has found no node. */
const unusedMs = 48 * 3_600_000;

/** The keys of the assets that a node names. */
const toKeys = { $map: { input: '$asset_ids', in: { $concat: ['$organization_id', '/', '$$this'] } } };

/** The invariants of the collections `assets` and `asset_files`, and of `nodes.asset_ids`. */
export const assetInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: assets, field: 'organization_id', target: organizations },
    description: 'An asset belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: assets, field: 'size_bytes' },
    description: 'An asset has its bytes, in full length.',
    stages: [
      {
        $lookup: {
          ...{ from: assetFiles.name, localField: '_id', foreignField: '_id', as: 'found' },
          pipeline: [{ $project: { length: { $binarySize: '$bytes' } } }],
        },
      },
      { $match: { $expr: { $ne: [{ $first: '$found.length' }, '$size_bytes'] } } },
    ],
    batchSize: 100,
  }),
  rowInvariant({
    ...{ collection: assetFiles, field: '_id' },
    description: 'Bytes belong to an asset.',
    stages: [{ $project: { _id: 1 } }, ...withoutMatch({ field: '_id', target: assets })],
    batchSize: 100,
  }),
  {
    name: `${assetFiles.name}.bytes`,
    description: 'The id of an asset is the SHA-256 of its bytes.',
    async *find(scan) {
      for await (const row of scan.rows(assetFiles.name, [], 10)) {
        // the rows are those of the collection
        const { _id, asset_id, bytes } = row as unknown as AssetFileRow;
        if (createHash('sha256').update(toBytes(bytes)).digest('hex') !== asset_id) yield _id;
      }
    },
  },
  rowInvariant({
    ...{ collection: nodes, field: 'asset_id' },
    description: 'Each asset that a node names belongs to its organization.',
    stages: [
      { $match: { asset_ids: { $exists: true } } },
      { $project: { keys: toKeys } },
      { $lookup: { from: assets.name, localField: 'keys', foreignField: '_id', as: 'found' } },
      { $match: { $expr: { $ne: [{ $size: '$found' }, { $size: '$keys' }] } } },
    ],
  }),
  {
    name: `${nodes.name}.asset_ids`,
    description: 'A node has the ids of the assets that its rich text names.',
    async *find(scan) {
      const mayNameAssets = { $or: [{ asset_ids: { $exists: true } }, { content: /"asset:/ }] };
      const stages = [{ $match: mayNameAssets }, { $project: { content: 1, asset_ids: 1 } }];
      for await (const row of scan.rows(nodes.name, stages, 200)) {
        // the projection has these fields
        const { _id, content, asset_ids } = row as unknown as Pick<NodeRow, '_id' | 'content' | 'asset_ids'>;
        if (!isDeepStrictEqual(toAssetIds(content), asset_ids ? { asset_ids } : {})) yield _id;
      }
    },
  },
  {
    ...rowInvariant({
      ...{ collection: assets, field: 'unreferenced_at' },
      description: 'An asset that no node has named for 48 hours is deleted.',
      stages: ({ settledBefore }) => [
        { $match: { unreferenced_at: { $lt: new Date(settledBefore.getTime() - unusedMs) } } },
      ],
    }),
    isEventual: true,
  },
];
