/** Public interface of the workers library: runs expensive work within limits, also outside the service's process. */
export { type Bulkhead, bulkhead } from './bulkhead.ts';
export {
  createPasswordHasher,
  type PasswordHasher,
  type ScryptCost,
} from './password-hasher.ts';
export { serveTasks } from './task-server.ts';
export { runInSlices, type SlicedWork, startTimeSlices } from './time-slices.ts';
export { WorkerOutOfMemory } from './worker.ts';
export { createWorkerPool, type PoolEvents, type WorkerLimits, type WorkerPool } from './worker-pool.ts';
