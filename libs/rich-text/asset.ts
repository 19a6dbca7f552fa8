/** Reads the addresses of images that are stored beside the rich text: `asset:<id>`. */
import { type RichText, walk } from './tree.ts';

const scheme = 'asset:';

/** An image with an address of this scheme. The path is that of the address, such as `content/0/attrs/src`. */
export interface AssetReference {
  path: string;
  /** Undefined if what follows the scheme is not an id, or spaces precede it. */
  id: string | undefined;
}

/** Returns the id in an address, a SHA-256 of 64 lower-case hex digits; undefined for every other value. */
export function getAssetId(src: unknown): string | undefined {
  if (typeof src !== 'string' || !src.startsWith(scheme)) return undefined;
  const id = src.slice(scheme.length);
  return /^[0-9a-f]{64}$/.test(id) ? id : undefined;
}

/** Returns the address of an asset. */
export function toAssetSource(id: string): string {
  return scheme + id;
}

/** Returns whether the JSON text of rich text may name assets. Most texts do not, and need not be parsed. */
export function mayNameAssets(json: string): boolean {
  return json.includes(scheme);
}

/** Lists the images whose address has the scheme `asset:`, in reading order. */
export function findAssets(content: RichText): AssetReference[] {
  const found: AssetReference[] = [];
  for (const { node, path } of walk(content)) {
    const src = node.type === 'image' ? node.attrs?.src : undefined;
    if (typeof src !== 'string' || !src.trimStart().startsWith(scheme)) continue;
    found.push({ path: path === '' ? 'attrs/src' : `${path}/attrs/src`, id: getAssetId(src) });
  }
  return found;
}
