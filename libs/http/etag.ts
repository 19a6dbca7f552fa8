/** Parsing of ETags in request headers (RFC 9110, section 13). */

import { ifMatchPattern } from '#libs/contract';

/** One entity tag. Group 1 is the text between the quotes; `W/` marks a weak tag. */
const entityTag = `(?:W/)?"([^"]*)"`;
const tagList = new RegExp(ifMatchPattern);

/** Whether an `If-Match` value is well-formed: `*` or a list of quoted ETags. */
export function isTagList(header: string): boolean {
  return tagList.test(header);
}

/**
 * Returns the tags of `If-Match` without quotes, or `undefined` if the header is absent or `*`. A weak tag is
 * treated as a strong one, because proxies that compress a response weaken its ETag.
 */
export function parseIfMatch(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return [...header.matchAll(new RegExp(entityTag, 'g'))].map(([, tag = '']) => tag);
}

/** Whether `If-None-Match` contains this ETag or is `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || [...header.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === etag);
}
