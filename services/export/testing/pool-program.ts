/** A test program: runs a task in a worker pool, starts a long one, prints "busy" and waits until it is killed. */
import { Secret } from '#libs/contract';
import { attacks } from '../../../tests/word/attacks.ts';
import { createDefaultTemplateFile } from '../formats/default-template.ts';
import { createWorkerPool } from '../workers/worker-pool.ts';

const pool = createWorkerPool(
  { workers: 1, maxQueue: 1, timeoutSeconds: 60, memoryMb: 512 },
  // this task does not read from MongoDB
  new Secret('mongodb://127.0.0.1:1/none'),
  { onError: () => undefined, onRejected: (reason) => void process.stderr.write(`${reason}\n`) },
);
await pool.run('checkTemplate', await createDefaultTemplateFile());
const heavyFile = attacks.find(({ name }) => name.startsWith('130,000 paragraphs'))?.create();
void pool.run('checkTemplate', new Uint8Array(heavyFile ?? []));
process.stdout.write('busy\n');
setInterval(() => undefined, 1_000);
