/** A cache with a limit on its entries. */
import { LRUCache } from 'lru-cache';

/**
 * Creates a cache that drops the least recently used entries above `maxEntries`, and entries older than `ttlMs` as
 * soon as they are that old: otherwise they would take memory until there are `maxEntries` of them. Unlike one with the
 * option `max`, it takes no memory for entries that do not exist yet.
 */
export function createBoundedCache<K extends {}, V extends {}>(
  maxEntries: number,
  ttlMs = 0,
): LRUCache<K, V> {
  return new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1, ttl: ttlMs, ttlAutopurge: ttlMs > 0 });
}
