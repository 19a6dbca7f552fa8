/** Renders the document of a link piece by piece, and creates the problem of an address with many unknown links. */
import { type Problem, type RateLimitPolicy, rateLimitHeaders, TooManyRequests } from '#libs/contract';
import { startTimeSlices } from '#libs/workers';
import type { AssetSizes } from './representations.ts';
import type { LinkDocument } from './store/public-links.ts';
import type { NodeRow, SharingStore } from './store/share-tokens.ts';

/** Reads what is rendered. */
export type RenderSource = Pick<SharingStore, 'document' | 'nodes' | 'assetSizes'>;

/** Attempts to read a document that changes while it is being read. */
export const maxAttempts = 5;

/** Renders a document as UTF-8; undefined if it changed while its nodes were read. */
export type RenderDocument = (
  document: LinkDocument,
  toPieces: (rows: readonly NodeRow[], assets: AssetSizes | undefined) => Iterable<string>,
) => Promise<Uint8Array | undefined>;

/** Creates the renderer. */
export function createRenderer(source: RenderSource): RenderDocument {
  return async (document, toPieces) => {
    const rows = await source.nodes(document._id);
    const ids = new Set(rows.flatMap(({ asset_ids = [] }) => asset_ids));
    const assets = ids.size === 0 ? undefined : await source.assetSizes(document.organization_id, [...ids]);
    const after = await source.document(document.organization_id, document._id);
    if (after?.row_version !== document.row_version) return undefined;
    return encodePieces(toPieces(rows, assets));
  };
}

/** Joins the pieces as UTF-8. Lets other requests run in between. */
async function encodePieces(pieces: Iterable<string>): Promise<Uint8Array> {
  let text = '';
  const slices = startTimeSlices();
  for (const piece of pieces) {
    text += piece;
    if (slices.isOver()) await slices.next();
  }
  return Buffer.from(text);
}

/** The problem of an address that requested too many unknown links. */
export function tooManyUnknownLinks(
  policy: RateLimitPolicy,
  waitSeconds: number,
  headers: Readonly<Record<string, string>>,
): Problem {
  return TooManyRequests('Too many requests for unknown links. Wait for the time given in `Retry-After`.', {
    headers: { ...headers, ...rateLimitHeaders(policy, waitSeconds) },
  });
}
