/** Slugs, which identify organizations in public links. */

const reserved = new Set([
  'api',
  'app',
  'admin',
  'www',
  'docs',
  'embed',
  'static',
  'assets',
  'health',
  'status',
  'support',
]);

/** Converts a name to a slug: lower-case letters, digits and dashes, 3 to 40 characters. */
export function toSlug(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return words.length >= 3 && !isReserved(words) ? words : `org-${words || 'new'}`;
}

/** Appends a suffix to a taken slug; the result has at most 40 characters. */
export function addSlugSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, 39 - suffix.length).replaceAll(/-+$/g, '')}-${suffix}`;
}

/** Whether a slug is reserved for the application. */
export function isReserved(slug: string): boolean {
  return reserved.has(slug);
}
