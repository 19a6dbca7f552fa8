/**
 * Rendered bytes kept in memory under the name of their version: bounded, and rendered once for all who ask
 * at the same time.
 */
import { LRUCache } from 'lru-cache';

/** A memory of bytes. */
export interface RenderCache<Bytes extends Uint8Array> {
  /**
   * The bytes of a version, rendered when they are not there. Nothing is kept, and nothing given, where
   * `render` gives nothing. Whoever asks while they are rendered gets the same bytes, or the same rejection.
   */
  getOrRender(version: string, render: () => Promise<Bytes | undefined>): Promise<Bytes | undefined>;
}

/** Keeps at most so many bytes, those that were asked for last. What is larger is rendered each time. */
export function renderCache<Bytes extends Uint8Array>(maxBytes: number): RenderCache<Bytes> {
  const cache = new LRUCache<string, Bytes>({
    maxSize: maxBytes,
    sizeCalculation: (bytes, version) => bytes.byteLength + version.length,
  });
  // beside the cache, not in it: what is still being rendered must not be thrown out to make room
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
