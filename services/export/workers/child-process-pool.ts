/**
 * Threads in a process of their own, which begins with the first work and ends when there has been none for a while. All
 * of it has the lowest priority: beside its threads also those in which the runtime collects garbage and compresses for them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import { type Equipment, MemoryUsedUp, WorkerCrashed, type WorkerPool } from './task-runner.ts';

/** What the process is told: how it is equipped, then work, and of which work nobody waits for the end any more. */
export type Told =
  | { readonly begin: Equipment }
  | { readonly id: number; readonly name: string; readonly task: unknown }
  | { readonly forget: number };

/** What it says: how work ended, or that a thread ended without any. */
export type Said =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: unknown; readonly isMemory: boolean }
  | { readonly onError: unknown };

/** What the process gets of our environment: how a runtime is to work, and no secret. */
const passedOn = /^(PATH|TZ|LANG|LC_.+|NODE_.+|SSL_CERT_.+|MALLOC_.+|LD_.+|UV_.+)$/;

/** Has the threads in a process of their own; `onError` is told of what ends without work in hand. */
export function apart(equipment: Equipment, onError: (error: unknown) => void): WorkerPool {
  let there: Company | undefined;
  let leaving: NodeJS.Timeout | undefined;

  return {
    async run(name, task, signal) {
      clearTimeout(leaving);
      there ??= begun();
      const company = there;
      try {
        return await company.run(name, task, signal);
      } finally {
        if (company === there && company.atWork() === 0) leaveLater();
      }
    },
    async close() {
      clearTimeout(leaving);
      await there?.end();
    },
  };

  function begun(): Company {
    const company = companyOf(equipment, onError);
    void company.ended.then(() => {
      if (there === company) there = undefined;
    });
    return company;
  }

  function leaveLater(): void {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      void there?.end();
      there = undefined;
    }, equipment.idleMs);
    leaving.unref();
  }
}

/** One process, from its beginning to its end. */
interface Company {
  run: WorkerPool['run'];
  atWork(): number;
  /** Ends it at once; resolves when it has ended. */
  end(): Promise<void>;
  readonly ended: Promise<void>;
}

function companyOf(equipment: Equipment, onError: (error: unknown) => void): Company {
  const asked = new Map<number, { resolve(result: unknown): void; reject(error: unknown): void }>();
  const { promise: ended, resolve: isOver } = Promise.withResolvers<void>();
  let last = 0;
  let isToEnd = false;
  const child = fork(new URL('./pool-process.ts', import.meta.url), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name))),
  });
  child.on('message', heard);
  child.once('error', (cause) =>
    gone(new WorkerCrashed('The process that makes files could not begin', { cause })),
  );
  child.once('exit', (code, signal) =>
    gone(new WorkerCrashed(`The process that makes files ended by ${signal ?? code}`)),
  );
  tell(child, { begin: equipment });

  return {
    async run(name, task, signal) {
      signal.throwIfAborted();
      last += 1;
      const id = last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const forget = () => {
        tell(child, { forget: id });
        reject(signal.reason);
      };
      asked.set(id, { resolve, reject });
      signal.addEventListener('abort', forget);
      tell(child, { id, name, task });
      try {
        return await promise;
      } finally {
        asked.delete(id);
        signal.removeEventListener('abort', forget);
      }
    },
    atWork: () => asked.size,
    end() {
      isToEnd = true;
      child.kill('SIGKILL');
      return ended;
    },
    ended,
  };

  function heard(said: Said): void {
    if ('onError' in said) onError(said.onError);
    else if ('result' in said) asked.get(said.id)?.resolve(said.result);
    else asked.get(said.id)?.reject(said.isMemory ? new MemoryUsedUp() : said.error);
  }

  function gone(error: Error): void {
    if (!isToEnd && asked.size === 0) onError(error);
    for (const { reject } of asked.values()) reject(isToEnd ? new Error('The threads are closed') : error);
    isOver();
  }
}

/** Who is gone hears nothing, and its end is told anyway. */
function tell(child: ChildProcess, told: Told): void {
  child.send(told, () => undefined);
}
