/** The pool of export workers, which check templates and render files. */
import type { Secret } from '#libs/contract';
import { createWorkerPool, type PoolEvents, type WorkerLimits, type WorkerPool } from '#libs/workers';
import type { Tasks } from './tasks.ts';

export type ExportWorkers = WorkerPool<Tasks>;

/** Creates the pool. Its workers read from `mongodb`. */
export function createExportWorkers(
  limits: WorkerLimits,
  mongodb: Secret,
  events: PoolEvents,
): ExportWorkers {
  const file = new URL('./worker-program.ts', import.meta.url);
  return createWorkerPool<Tasks>({ file, context: mongodb.reveal(), subject: 'file' }, limits, events);
}
