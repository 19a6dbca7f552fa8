/**
 * A bounded in-memory cache of rendered bytes, keyed by version. Every request reads the current version of its
 * resource, so the bytes are never outdated. Concurrent requests for a version share one rendering.
 */
import { LRUCache } from 'lru-cache';
import type { RequestInfo } from './handle.ts';

/** One version of a resource: what identifies its bytes, and how to render them. */
export interface Version {
  /** The strong ETag of the bytes, without quotes. */
  readonly etag: string;
  /** The key of the bytes in the cache, if it differs from the ETag. */
  readonly cacheKey?: string;
  /** Returns undefined if the resource changed while it was rendered. Nothing is cached then. */
  render(): Promise<Uint8Array | undefined>;
}

/**
 * A version with its bytes. `hit`: they were cached, or rendered for a concurrent request. `miss`: they were rendered
 * for this one. `not_modified`: the client already has them, so `bytes` is empty.
 */
export interface VersionBytes<V> {
  version: V;
  bytes: Uint8Array;
  cacheStatus: 'hit' | 'miss' | 'not_modified';
}

/** Options of `RenderCache.read`. */
export interface ReadOptions<V> {
  /** Reads the current version, e.g. the row of the resource, and checks that the caller may see it. */
  open(): Promise<V>;
  /** The request of a client that may already have the bytes. */
  call?: Pick<RequestInfo, 'hasCurrent'> | undefined;
  /** The number of attempts to read a resource that changes while it is rendered. */
  maxAttempts: number;
}

/** A cache of rendered bytes. */
export interface RenderCache {
  /**
   * Opens the current version of a resource and returns it with its bytes. If it changed while it was rendered,
   * opens it again. Returns undefined if it changed during every attempt. Rejects like `open` and `render`.
   */
  read<V extends Version>(options: ReadOptions<V>): Promise<VersionBytes<V> | undefined>;
  /** Returns the bytes of a version, if they are cached. */
  get(key: string): Uint8Array | undefined;
}

const noBytes = new Uint8Array();

/** What an entry takes besides its key and its bytes: about 1 KiB of objects (measured in a heap snapshot). */
const entryBytes = 1_024;
/**
 * The largest number of entries. Small documents are rendered fast, but the objects of tens of thousands of them would
 * fill the heap.
 */
const maxEntries = 1_024;

/**
 * Creates an LRU cache of at most 1,024 entries and `maxBytes`, including its own objects. Larger results are not
 * cached.
 */
export function renderCache(maxBytes: number): RenderCache {
  const cache = new LRUCache<string, Uint8Array>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: (bytes, key) => bytes.byteLength + key.length + entryBytes,
  });
  // renderings in progress are not in the cache, so that they cannot be evicted
  const inFlight = new Map<string, Promise<Uint8Array | undefined>>();
  return {
    async read({ open, call, maxAttempts }) {
      for (let left = maxAttempts; left > 0; left -= 1) {
        const version = await open();
        if (call?.hasCurrent(version.etag)) return { version, bytes: noBytes, cacheStatus: 'not_modified' };
        const key = version.cacheKey ?? version.etag;
        const known = cache.get(key) ?? inFlight.get(key);
        const bytes = await (known ?? startRender(key, version));
        if (bytes) return { version, bytes, cacheStatus: known ? 'hit' : 'miss' };
      }
      return undefined;
    },
    get: (key) => cache.get(key),
  };

  function startRender(key: string, version: Version): Promise<Uint8Array | undefined> {
    const work = version
      .render()
      .then((bytes) => {
        if (bytes) cache.set(key, toOwnMemory(bytes));
        return bytes;
      })
      .finally(() => inFlight.delete(key));
    inFlight.set(key, work);
    return work;
  }
}

/**
 * Returns bytes that are alone in their ArrayBuffer. Node allocates small buffers from a pool. A cached one would keep
 * the whole ArrayBuffer of its neighbours, 64 KiB, which the size of the cache does not count.
 */
function toOwnMemory(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
}
