/** A program for tests: it has something made, says so, and stays until it is killed. */
import { Secret } from '#libs/contract';
import { threads } from '../workers/worker-pool.ts';

const pool = threads(
  { threads: 1, waiting: 1, seconds: 60, memoryMb: 512 },
  // nothing here reads
  new Secret('mongodb://127.0.0.1:1/none'),
  { onError: () => undefined, refused: (reason) => void process.stderr.write(`${reason}\n`) },
);
await pool.turn((run) => run('builtIn'));
process.stdout.write('made\n');
setInterval(() => undefined, 1_000);
