/** Serves the pictures of a published version to everyone who may read it. */
import { body } from '#libs/contract';
import { createBoundedCache, type Reply, type RequestInfo, reply } from '#libs/http';
import { toAssetHeaders, toBytes } from '../documents/contract.ts';
import type { CountAsset } from './metrics.ts';
import type { DocumentState, SharingStore } from './store.ts';

/** A request for a picture of a published version that the caller may read. */
export interface AssetRequest {
  document: Pick<DocumentState, '_id' | 'organization_id' | 'row_version'>;
  assetId: string;
  call: Pick<RequestInfo, 'hasCurrent'>;
  /** The headers of all responses of the link. */
  headers: Readonly<Record<string, string>>;
  /** Whether shared caches must not store the picture. */
  isPrivate: boolean;
}

/** Returns the response with a picture; undefined if the version does not reference it. */
export type ReadAsset = (request: AssetRequest) => Promise<Reply<ReturnType<typeof body>> | undefined>;

/** How long a reference of one version is remembered, ms. It never changes. */
const rememberMs = 3_600_000;

/** Creates the function for links of any kind. It checks neither the link nor its controls: the caller does. */
export function createAssetReader(
  sharing: Pick<SharingStore, 'referencesAsset' | 'assetFile'>,
  count: CountAsset,
): ReadAsset {
  const known = createBoundedCache<string, boolean>(10_000, rememberMs);

  return async ({ document, assetId, call, headers, isPrivate }) => {
    if (!(await isReferencedBy(document, assetId))) return undefined;
    if (call.hasCurrent(assetId)) {
      count({ result: 'not_modified' });
      return reply(body('image/png', ''), { etag: assetId, headers, isPrivate });
    }
    const file = await sharing.assetFile(document.organization_id, assetId);
    if (!file) return undefined;
    count({ result: 'sent' });
    const content = body(file.media_type, toBytes(file.bytes));
    return reply(content, { etag: assetId, headers: { ...headers, ...toAssetHeaders(file) }, isPrivate });
  };

  async function isReferencedBy(
    { _id, row_version }: Pick<DocumentState, '_id' | 'row_version'>,
    assetId: string,
  ): Promise<boolean> {
    const key = `${_id}/${row_version}/${assetId}`;
    const recalled = known.get(key);
    if (recalled !== undefined) return recalled;
    const isReferenced = await sharing.referencesAsset(_id, assetId);
    known.set(key, isReferenced);
    return isReferenced;
  }
}
