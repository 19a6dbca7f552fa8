/** ETags in requests and answers (RFC 9110, section 13). */

/** One entity tag; group 1 is its text. `W/` marks a weak one. */
const entityTag = `(?:W/)?"([^"]*)"`;
const tagList = new RegExp(String.raw`^[\s,]*${entityTag}\s*(?:,\s*(?:${entityTag}\s*)?)*$`);

/** Whether a value of `If-Match` is `*` or a list of quoted ETags. */
export function isTagList(header: string): boolean {
  return header.trim() === '*' || tagList.test(header);
}

/**
 * The tags of `If-Match` without quotes; nothing when the header is absent or `*`. A weak tag counts as the
 * strong one, because proxies that compress a response weaken its ETag.
 */
export function parseIfMatch(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return [...header.matchAll(new RegExp(entityTag, 'g'))].map(([, tag = '']) => tag);
}

/** Whether `If-None-Match` names this tag. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || [...header.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === etag);
}
