/**
 * A bounded in-memory cache of rendered bytes, keyed by version. Concurrent requests for a version share one
 * rendering.
 */
import { LRUCache } from 'lru-cache';

/** A cache of rendered bytes. */
export interface RenderCache<Bytes extends Uint8Array> {
  /**
   * Returns the cached bytes of a version, or renders them. Concurrent callers get the same bytes or the same
   * rejection. If `render` returns `undefined`, nothing is cached and `undefined` is returned.
   */
  getOrRender(version: string, render: () => Promise<Bytes | undefined>): Promise<Bytes | undefined>;
}

/** Creates an LRU cache of at most `maxBytes`. Larger results are not cached. */
export function renderCache<Bytes extends Uint8Array>(maxBytes: number): RenderCache<Bytes> {
  const cache = new LRUCache<string, Bytes>({
    maxSize: maxBytes,
    sizeCalculation: (bytes, version) => bytes.byteLength + version.length,
  });
  // renderings in progress are not in the cache, so that they cannot be evicted
  const inFlight = new Map<string, Promise<Bytes | undefined>>();
  return {
    async getOrRender(version, render) {
      return cache.get(version) ?? inFlight.get(version) ?? startRender(version, render);
    },
  };

  function startRender(
    version: string,
    render: () => Promise<Bytes | undefined>,
  ): Promise<Bytes | undefined> {
    const work = render()
      .then((bytes) => {
        if (bytes) cache.set(version, bytes);
        return bytes;
      })
      .finally(() => inFlight.delete(version));
    inFlight.set(version, work);
    return work;
  }
}
