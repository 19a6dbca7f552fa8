/** A test program: connects a worker to the MongoDB of its argument, prints "idle" and waits until it is killed. */
import process from 'node:process';
import { newId, Secret } from '#libs/contract';
import { createExportWorkers } from '../workers/export-workers.ts';

const pool = createExportWorkers(
  { workers: 1, maxQueue: 1, timeoutSeconds: 3_600, memoryMb: 512 },
  new Secret(process.argv[2] ?? ''),
  { onError: () => undefined, onRejected: (reason) => void process.stderr.write(`${reason}\n`) },
);
const snapshot = { id: newId(), organizationId: newId(), rowVersion: 1, organizationRowVersion: 1 };
await pool.run('renderFile', { snapshot, target: { flavor: 'plain' }, maxBytes: 1 });
process.stdout.write('idle\n');
setInterval(() => undefined, 1_000);
