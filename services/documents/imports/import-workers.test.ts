/** Tests the rest of import workers between files. */
import { afterAll, expect, test } from '@jest/globals';
import { createImportWorkers } from './import-workers.ts';

const ignore = () => undefined;
const limits = { workers: 1, maxQueue: 4, timeoutSeconds: 120, memoryMb: 256 };
const workers = createImportWorkers(limits, { onError: ignore, onRejected: ignore });
afterAll(() => workers.close());

const preview = () =>
  workers.run('previewFile', { name: 'sop.md', bytes: Buffer.from('# Valves'), acceptChanges: false });

test('a worker rests after a file for as long as the file took', async () => {
  // includes the start of the worker
  const first = await preview();
  const sentAt = performance.now();
  const second = await preview();
  const waitedMs = performance.now() - sentAt - second.seconds * 1_000;
  // clocks and timers round
  expect(waitedMs).toBeGreaterThan(Math.min(first.seconds * 1_000, 250) - 5);
});
