/** Slugs: the organization's name in public links. */

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

/** A slug made from a name: lower-case letters, digits and dashes, 3 to 40 characters. */
export function slugFrom(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return words.length >= 3 && !isReserved(words) ? words : `org-${words || 'new'}`;
}

/** Another slug for the same name, told apart by a suffix. */
export function slugWithSuffix(slug: string, suffix: string): string {
  return `${slug.slice(0, 39 - suffix.length).replaceAll(/-+$/g, '')}-${suffix}`;
}

/** Slugs that nobody may have. */
export function isReserved(slug: string): boolean {
  return reserved.has(slug);
}
