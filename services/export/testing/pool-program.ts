/** A test program: runs a task in a worker pool, prints "done" and then waits until it is killed. */
import { Secret } from '#libs/contract';
import { createWorkerPool } from '../workers/worker-pool.ts';

const pool = createWorkerPool(
  { workers: 1, maxQueue: 1, timeoutSeconds: 60, memoryMb: 512 },
  // this task does not read from MongoDB
  new Secret('mongodb://127.0.0.1:1/none'),
  { onError: () => undefined, onRejected: (reason) => void process.stderr.write(`${reason}\n`) },
);
await pool.use((run) => run('compileBuiltIn'));
process.stdout.write('done\n');
setInterval(() => undefined, 1_000);
