/**
 * Runs tasks in worker threads of a child process. The child process starts with the first task and exits
 * when idle. Once its first worker has started, the whole process has a low priority, which includes the
 * runtime's own threads for garbage collection and compression.
 */
import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import { type PoolOptions, type TaskRunner, WorkerCrashed, WorkerOutOfMemory } from './task-runner.ts';

/** A message to the child process: the options of its thread pool, a task, or the id of a task to cancel. */
export type PoolCommand =
  | { readonly start: PoolOptions }
  | { readonly id: number; readonly name: string; readonly task: unknown }
  | { readonly cancel: number };

/** A message from the child process: the result or error of a task, or the error of an idle worker. */
export type PoolReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: unknown; readonly isOutOfMemory: boolean }
  | { readonly workerError: unknown };

/** Environment variables that the child process receives: runtime configuration, no secrets. */
const inheritedVariables = /^(PATH|TZ|LANG|LC_.+|NODE_.+|SSL_CERT_.+|MALLOC_.+|LD_.+|UV_.+)$/;

/** Creates a pool in a child process. `onError` receives errors of idle workers and processes. */
export function createChildProcessPool(options: PoolOptions, onError: (error: unknown) => void): TaskRunner {
  let current: PoolProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  return {
    async run(name, task, signal) {
      clearTimeout(idleTimer);
      current ??= start();
      const child = current;
      try {
        return await child.run(name, task, signal);
      } finally {
        if (child === current && child.pendingCount() === 0) startIdleTimer();
      }
    },
    async close() {
      clearTimeout(idleTimer);
      await current?.kill();
    },
  };

  function start(): PoolProcess {
    const child = startPoolProcess(options, onError);
    void child.exited.then(() => {
      if (current === child) current = undefined;
    });
    return child;
  }

  function startIdleTimer(): void {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      void current?.kill();
      current = undefined;
    }, options.idleMs);
    idleTimer.unref();
  }
}

/** One child process, from start to exit. */
interface PoolProcess {
  run: TaskRunner['run'];
  pendingCount(): number;
  /** Kills the process; resolves after it has exited. */
  kill(): Promise<void>;
  readonly exited: Promise<void>;
}

function startPoolProcess(options: PoolOptions, onError: (error: unknown) => void): PoolProcess {
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  const { promise: exited, resolve: resolveExited } = Promise.withResolvers<void>();
  let lastId = 0;
  let isKilled = false;
  const child = fork(new URL('./pool-process.ts', import.meta.url), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => inheritedVariables.test(name))),
  });
  child.on('message', onReply);
  child.once('error', (cause) =>
    onExit(new WorkerCrashed('The export worker process could not start', { cause })),
  );
  child.once('exit', (code, signal) =>
    onExit(new WorkerCrashed(`The export worker process exited with ${signal ?? code}`)),
  );
  send(child, { start: options });

  return {
    async run(name, task, signal) {
      signal.throwIfAborted();
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const cancel = () => {
        send(child, { cancel: id });
        reject(signal.reason);
      };
      pending.set(id, { resolve, reject });
      signal.addEventListener('abort', cancel);
      send(child, { id, name, task });
      try {
        return await promise;
      } finally {
        pending.delete(id);
        signal.removeEventListener('abort', cancel);
      }
    },
    pendingCount: () => pending.size,
    kill() {
      isKilled = true;
      child.kill('SIGKILL');
      return exited;
    },
    exited,
  };

  function onReply(reply: PoolReply): void {
    if ('workerError' in reply) onError(reply.workerError);
    else if ('result' in reply) pending.get(reply.id)?.resolve(reply.result);
    else {
      const error = reply.isOutOfMemory ? new WorkerOutOfMemory(options.memoryMb) : reply.error;
      pending.get(reply.id)?.reject(error);
    }
  }

  function onExit(error: Error): void {
    if (!isKilled && pending.size === 0) onError(error);
    const reason = isKilled ? new Error('The export workers are closed') : error;
    for (const { reject } of pending.values()) reject(reason);
    resolveExited();
  }
}

/** Sends a command; ignores a send error, because the exit of the process is reported separately. */
function send(child: ChildProcess, command: PoolCommand): void {
  child.send(command, () => undefined);
}
