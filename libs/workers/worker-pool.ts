/** The worker pool: runs tasks outside the service's process, with limits on workers, queue, time and memory. */
import { Unavailable } from '#libs/contract';
import { bulkhead } from './bulkhead.ts';
import { startWorker, type Worker, WorkerCrashed } from './worker.ts';

// biome-ignore lint/suspicious/noExplicitAny: tasks have inputs and results of every type
type AnyTasks = Record<string, (input: any) => Promise<unknown>>;

/** What runs in the workers of a pool. */
export interface WorkerProgram {
  /** A file that calls `serveTasks`. */
  file: URL;
  /** Passed to `createTasks` of the program. */
  context: unknown;
  /** What a task processes, for error messages, e.g. `file`. */
  subject: string;
}

/** Limits of the worker pool. */
export interface WorkerLimits {
  workers: number;
  /** Maximum number of queued tasks. */
  maxQueue: number;
  /** Maximum number of queued tasks of one client; the default is three quarters of `maxQueue`. */
  maxQueuePerClient?: number;
  /** Time limit of a task, including its time in the queue. */
  timeoutSeconds: number;
  /** JavaScript heap limit of each worker. */
  memoryMb: number;
  /** Idle time after which a worker exits; the default is one minute. */
  idleMs?: number;
  /** The longest rest of a worker after a task; it rests for as long as the task took. The default is no rest. */
  maxRestMs?: number;
}

type RejectReason = 'queue_full' | 'timeout' | 'crashed';

/** Callbacks for errors of workers, and for tasks that the pool rejects. */
export interface PoolEvents {
  onError(error: unknown): void;
  onRejected(reason: RejectReason): void;
}

/** A bounded pool of workers. */
export type WorkerPool<Tasks extends AnyTasks> = ReturnType<typeof createWorkerPool<Tasks>>;

/** Creates a pool whose workers start on demand. */
export function createWorkerPool<Tasks extends AnyTasks>(
  { file, context, subject }: WorkerProgram,
  {
    workers,
    maxQueue,
    maxQueuePerClient = Math.ceil(maxQueue * 0.75),
    timeoutSeconds,
    memoryMb,
    idleMs = 60_000,
    maxRestMs,
  }: WorkerLimits,
  { onError, onRejected }: PoolEvents,
) {
  const started = new Set<Worker>();
  let [present, running, isClosed] = [0, 0, false];
  const createError = () =>
    createRejection('queue_full', `Too many ${subject}s are being processed. Try again later.`, '5');
  const withSlot = bulkhead({ maxConcurrent: workers, maxQueue, maxQueuePerClient, createError });

  return {
    /**
     * Runs the task `name` in the next free worker; `seconds` is its time without the queue. Clients take turns.
     * Errors: `Unavailable` when the queue is full, the time limit is reached or the worker crashes;
     * `WorkerOutOfMemory`; errors of the task itself, without their class.
     */
    async run<Name extends keyof Tasks>(name: Name, input: Parameters<Tasks[Name]>[0], client?: string) {
      const signal = AbortSignal.timeout(timeoutSeconds * 1000);
      const request = { context, name, input };
      present += 1;
      try {
        const use = () => useWorker((worker) => worker.run(request, signal));
        const { result, seconds } = await withSlot(use, signal, client);
        // the worker returned the result of the task `name`
        return { result: result as Awaited<ReturnType<Tasks[Name]>>, seconds };
      } catch (error) {
        const lateDetail = `The ${subject} was not processed within ${timeoutSeconds} s. Try again later.`;
        if (signal.aborted) throw createRejection('timeout', lateDetail, '30');
        if (isClosed || !(error instanceof WorkerCrashed)) throw error;
        onError(error);
        throw createRejection('crashed', `Processing the ${subject} was interrupted. Try again.`, '5');
      } finally {
        present -= 1;
      }
    },
    /** Number of tasks in the queue. */
    queued: () => present - running,
    /** Number of tasks that have a worker. */
    running: () => running,
    /** Kills all workers at once, including busy ones. */
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...started].map((worker) => worker.kill()));
    },
  };

  async function useWorker<Result>(work: (worker: Worker) => Promise<Result>): Promise<Result> {
    if (isClosed) throw new Error('The worker pool is closed');
    running += 1;
    try {
      return await work([...started].findLast(({ isIdle }) => isIdle()) ?? start());
    } finally {
      running -= 1;
    }
  }

  function start(): Worker {
    const worker = startWorker({ program: file, memoryMb, idleMs, maxRestMs });
    started.add(worker);
    void worker.exited.then((error) => {
      started.delete(worker);
      if (worker.isIdle()) onError(error);
    });
    return worker;
  }

  function createRejection(reason: RejectReason, detail: string, retryAfter: string): Error {
    onRejected(reason);
    return Unavailable(detail, { headers: { 'Retry-After': retryAfter } });
  }
}
