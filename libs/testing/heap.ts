/** Measures what work retains in V8's old generation, which only a full garbage collection cleans. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major' | 'minor' }) => void;

/**
 * Repeats work `times` times with only minor collections in between; returns the growth of the old space in bytes. It
 * is the smallest of three rounds: sometimes V8 moves short-lived objects there for a while, but a leak always grows.
 */
export async function retainedBytes(times: number, work: () => unknown): Promise<number> {
  const collect = createCollect();
  // warm-up: compiles the code and allocates what it retains permanently
  for (let i = 0; i < times / 10; i += 1) await work();
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round += 1) {
    collect({ type: 'major' });
    const before = getOldSpaceBytes();
    for (let i = 0; i < times; i += 1) {
      await work();
      if (i % 100 === 99) collect({ type: 'minor' });
    }
    smallest = Math.min(smallest, getOldSpaceBytes() - before);
  }
  return smallest;
}

/** Returns the bytes of all buffers that are still in use, after a full garbage collection. */
export function retainedBufferBytes(): number {
  const collect = createCollect();
  collect({ type: 'major' });
  // V8 frees buffers in another thread, and waits for it when the next collection begins
  collect({ type: 'major' });
  return process.memoryUsage().arrayBuffers;
}

function createCollect(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

function getOldSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
}
