/** ETags in requests and answers (RFC 9110, section 13). */

/** The tags of `If-Match` without quotes; nothing when the header is absent or `*`. */
export function strongTags(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => !weak).map(([, , tag = '']) => tag);
}

/** Whether `If-None-Match` names this tag. */
export function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || [...header.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === etag);
}
