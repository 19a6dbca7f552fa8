/** Serves the pictures of a published version to everyone who may read it. */
import { type Body, body } from '#libs/contract';
import {
  createBoundedCache,
  type RenderCache,
  type Reply,
  type RequestInfo,
  reply,
  type Version,
  type VersionBytes,
} from '#libs/http';
import { assetId as assetIdShape, toAssetHeaders, toAssetKey, toBytes } from '../documents/contract.ts';
import { hasAddresses } from './asset-addresses.ts';
import type { CountAsset } from './metrics.ts';
import type { LinkDocument } from './store/public-links.ts';
import type { SharingStore } from './store/share-tokens.ts';

/** A request for a picture of a published version that the caller may read. */
export interface AssetRequest {
  document: Pick<LinkDocument, '_id' | 'organization_id' | 'row_version'>;
  assetId: string;
  call: Pick<RequestInfo, 'hasCurrent'>;
  /** The headers of all responses of the link. */
  headers: Readonly<Record<string, string>>;
  /** Whether shared caches must not store the picture. */
  isPrivate: boolean;
}

/** Returns the response with a picture; undefined if the version does not reference it. */
export type ReadAsset = (request: AssetRequest) => Promise<Reply<Body> | undefined>;

/** How many results are remembered. Those of one version never change. */
const maxResults = 10_000;

/**
 * Creates the function for links of any kind. It checks neither the link nor its controls: the caller does. The cache
 * may be that of rendered documents.
 */
export function createAssetReader(
  sharing: Pick<SharingStore, 'referencesAsset' | 'assetFile'>,
  cache: RenderCache,
  count: CountAsset,
): ReadAsset {
  const references = createBoundedCache<string, boolean>(maxResults);

  return async ({ document, assetId, call, headers, isPrivate }) => {
    // any other text is no asset, and may be long: the cache limits only the number of its entries
    if (!assetIdShape.safeParse(assetId).success) return undefined;
    if (!(await isReferenced(document, assetId))) return undefined;
    const { organization_id } = document;
    const open = async () => ({
      etag: assetId,
      cacheKey: toAssetKey(organization_id, assetId),
      async render() {
        const file = await sharing.assetFile(organization_id, assetId);
        return file && toBytes(file.bytes);
      },
    });
    const found = await cache.read({ open, call, maxAttempts: 1 });
    if (!found) return undefined;
    const isUnchanged = found.cacheStatus === 'not_modified';
    count({ result: isUnchanged ? 'not_modified' : 'sent' });
    const media_type = getType(found.bytes);
    // without bytes, the type is not known, and a cache would store the wrong name
    const names = isUnchanged ? {} : toAssetHeaders({ asset_id: assetId, media_type });
    return reply(body(media_type, found.bytes), {
      etag: assetId,
      headers: { ...headers, ...names },
      isPrivate,
    });
  };

  async function isReferenced(
    { _id, row_version }: Pick<LinkDocument, '_id' | 'row_version'>,
    assetId: string,
  ): Promise<boolean> {
    const key = `${_id}/${row_version}/${assetId}`;
    const known = references.get(key);
    if (known !== undefined) return known;
    const result = await sharing.referencesAsset(_id, assetId);
    references.set(key, result);
    return result;
  }
}

/** Returns whether a document shows pictures, also if the client has it already: its policy depends on that. */
export type HasPictures = (documentId: string, found: VersionBytes<Version>) => Promise<boolean>;

/** Creates the function, which remembers its results. */
export function createPictureDetector(sharing: Pick<SharingStore, 'referencesAsset'>): HasPictures {
  const results = createBoundedCache<string, boolean>(maxResults);
  return async (documentId, { bytes, cacheStatus, version: { etag } }) => {
    const known = results.get(etag);
    if (known !== undefined) return known;
    const isKnown = cacheStatus !== 'not_modified';
    const result = isKnown ? hasAddresses(bytes) : await sharing.referencesAsset(documentId);
    results.set(etag, result);
    return result;
  };
}

/** Returns the media type of a stored picture. Each type has another first byte. */
function getType(bytes: Uint8Array): string {
  if (bytes[0] === 0xff) return 'image/jpeg';
  return bytes[0] === 0x47 ? 'image/gif' : 'image/png';
}
