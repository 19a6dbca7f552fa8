/** Measures how slow this machine is at the moment, so that tests wait longer on a slow or busy machine. */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';

/** Time of the calibration on the reference machine (two cores of 2.6 GHz without other work), ms. */
const referenceMs = 300;

/**
 * Returns the factor for all limits of waits: 1 on the reference machine or a faster one, 2 at half its speed. It is a
 * multiple of 1/4, because Node rejects limits that are not whole milliseconds.
 */
export function measureSlowness() {
  const block = Buffer.alloc(64 * 1024, 'process document');
  const startedAt = performance.now();
  for (let round = 0; round < 1_200; round += 1) {
    createHash('sha256').update(block).digest();
    JSON.stringify(Array.from({ length: 1_000 }, (_, index) => ({ index, text: `step ${index}` })));
  }
  return Math.max(1, Math.ceil(((performance.now() - startedAt) / referenceMs) * 4) / 4);
}
