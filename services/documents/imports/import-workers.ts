/** The pool of import workers, which convert uploaded files. */
import { createWorkerPool, type PoolEvents, type WorkerLimits, type WorkerPool } from '#libs/workers';
import type { ImportTasks } from './tasks.ts';

/** The longest rest of a worker after a file, in which it does not slow down reads of the same process (ADR 71). */
const maxRestMs = 250;

export type ImportWorkers = WorkerPool<ImportTasks>;

/** Creates the pool. Its workers have no connections. */
export function createImportWorkers(limits: WorkerLimits, events: PoolEvents): ImportWorkers {
  const file = new URL('./worker-program.ts', import.meta.url);
  const program = { file, context: null, subject: 'file' };
  return createWorkerPool<ImportTasks>(program, { ...limits, maxRestMs }, events);
}
