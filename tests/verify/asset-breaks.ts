/** Changes that break the invariants of assets. */
import { type Breaks, change, copy, nobody, remove, set, stranger } from './change-rows.ts';

const named = { asset_ids: { $exists: true } };
const fourDaysAgo = new Date(Date.now() - 4 * 86_400_000);

/** The changes by invariant. */
export const assetBreaks: Breaks = {
  'assets.organization_id': [set('assets', stranger)],
  'assets.size_bytes': [change('assets', {}, { $inc: { size_bytes: 1 } }), remove('asset_files')],
  'asset_files._id': [copy('asset_files', { _id: `${nobody}/1` })],
  'asset_files.bytes': [set('asset_files', { asset_id: '0'.repeat(64) })],
  'nodes.asset_id': [set('nodes', { asset_ids: ['0'.repeat(64)] }, named), set('nodes', stranger, named)],
  'nodes.asset_ids': [
    change('nodes', named, { $unset: { asset_ids: 1 } }),
    change('nodes', named, { $push: { asset_ids: '0'.repeat(64) } }),
  ],
  'assets.unreferenced_at': [set('assets', { unreferenced_at: fourDaysAgo })],
};
