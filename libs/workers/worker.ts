/** One worker: a child process, or a thread under Deno, where the services may not start processes. */
import { fork } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker as Thread } from 'node:worker_threads';

/** A message to a worker: a task, and what all its tasks need, such as an address. */
export type TaskRequest = { context: unknown; name: PropertyKey; input: unknown };

/** A message from a worker: the result or the error of its task. */
export type TaskReply = { result: unknown } | { error: unknown };

/** A worker exited because its task needed more than `memoryMb` MB of JavaScript heap. */
export class WorkerOutOfMemory extends Error {
  readonly memoryMb: number;

  constructor(memoryMb: number) {
    super(`A worker needed more than ${memoryMb} MB of memory`);
    this.memoryMb = memoryMb;
  }
}

/** A worker exited for another reason. */
export class WorkerCrashed extends Error {}

/** A worker. It runs one task at a time. */
export type Worker = ReturnType<typeof startWorker>;

/** Environment variables that a worker receives: runtime configuration, without tokens such as `NODE_AUTH_TOKEN`. */
const inheritedVariables =
  /^(PATH|TZ|LANG|LC_.+|NODE_(?!AUTH_).+|SSL_CERT_.+|MALLOC_.+|LD_(LIBRARY_PATH|PRELOAD)|UV_.+)$/;
/** A flag of Node that takes precedence over `--max-old-space-size`. */
const heapPercentage = /--max-old-space-size-percentage=\S+/g;

/** How to start a worker: its program, the limit of its JavaScript heap, and the time after which it exits if idle. */
export interface WorkerOptions {
  program: URL;
  memoryMb: number;
  idleMs: number;
  /**
   * The longest rest after a task, milliseconds. The worker rests for as long as the task took, and leaves the core to
   * other requests meanwhile. Default: no rest.
   */
  maxRestMs?: number | undefined;
}

/** Starts a worker. */
export function startWorker({ program, memoryMb, idleMs, maxRestMs = 0 }: WorkerOptions) {
  const start = process.versions.deno ? startThread : startProcess;
  const { events, send, terminate, exited } = start(program, memoryMb);
  let state: 'idle' | 'busy' | 'killed' = 'idle';
  let idleTimer: NodeJS.Timeout | undefined;
  let rest: Promise<void> | undefined;
  // each task has its own promise: `exited` would keep the results of all that were raced with it
  let settle: (outcome: TaskReply | Error) => void = ignore;
  let cause: Error | undefined;
  events.on('message', (reply: TaskReply) => settle(reply));
  void exited.then((error) => {
    cause = error;
    settle(error);
  });
  const kill = (): Promise<unknown> => {
    state = 'killed';
    terminate();
    return exited;
  };
  return {
    /**
     * Waits until the worker has rested, and runs a task; `seconds` is the time of the task without the rest. If
     * `signal` aborts, the worker is killed and the promise rejects with the reason. Errors: `WorkerOutOfMemory`,
     * `WorkerCrashed`; an error of the task itself arrives without its class.
     */
    async run(request: TaskRequest, signal: AbortSignal): Promise<{ result: unknown; seconds: number }> {
      signal.throwIfAborted();
      clearTimeout(idleTimer);
      state = 'busy';
      const { promise: settled, resolve } = Promise.withResolvers<TaskReply | Error>();
      settle = resolve;
      if (cause) settle(cause);
      signal.addEventListener('abort', kill);
      await rest;
      const startedAt = performance.now();
      send(request);
      const outcome = await settled;
      const ms = performance.now() - startedAt;
      if (maxRestMs > 0) rest = pause(Math.min(ms, maxRestMs), undefined, { ref: false });
      settle = ignore;
      signal.removeEventListener('abort', kill);
      if (outcome instanceof Error) throw signal.aborted ? signal.reason : outcome;
      if (state === 'busy') {
        state = 'idle';
        idleTimer = setTimeout(kill, idleMs).unref();
      }
      if ('error' in outcome) throw outcome.error;
      return { result: outcome.result, seconds: ms / 1000 };
    },
    isIdle: () => state === 'idle',
    /** Kills the worker; resolves after it has exited. */
    kill,
    /** Resolves with the cause after the worker has exited. */
    exited,
  };
}

/** How to talk to a program and to end it. `exited` resolves with the cause of its exit. */
type RunningProgram = {
  events: EventEmitter;
  send(request: TaskRequest): void;
  terminate(): void;
  exited: Promise<Error>;
};

function startProcess(program: URL, memoryMb: number): RunningProgram {
  const variables = Object.entries(process.env).filter(([name]) => inheritedVariables.test(name));
  const child = fork(program, {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    env: Object.fromEntries(variables.map(([name, value]) => [name, value?.replace(heapPercentage, '')])),
    execArgv: [
      ...process.execArgv.map((flag) => flag.replace(heapPercentage, '')).filter(Boolean),
      `--max-old-space-size=${memoryMb}`,
    ],
  });
  preferForOutOfMemory(child.pid);
  let lastOutput = '';
  child.stderr?.on('data', (text) => {
    lastOutput = `${lastOutput}${text}`.slice(-4_096);
  });
  const exited = new Promise<Error>((resolve) => {
    child.on('error', (cause) => resolve(new WorkerCrashed('The worker failed', { cause })));
    child.on('close', (code, signal) => {
      // V8 aborts a process that exceeds its heap limit
      if (signal === 'SIGABRT' || code === 134) resolve(new WorkerOutOfMemory(memoryMb));
      resolve(new WorkerCrashed(`The worker exited with ${signal ?? code}. ${lastOutput}`));
    });
  });
  // a send error is ignored, because the exit of the process is reported
  const send = (request: TaskRequest) => void child.send(request, () => undefined);
  return { events: child, send, terminate: () => void child.kill('SIGKILL'), exited };
}

/**
 * Lets Linux end a worker first if the memory of the container is used up, and not the service: a task that is
 * interrupted is answered with 503. Kubernetes ends all processes of a container together, unless configured otherwise.
 * The worker cannot do this itself, because it would be too late while it loads its program.
 */
function preferForOutOfMemory(pid: number | undefined): void {
  if (process.platform !== 'linux' || pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // a read-only /proc: the system decides
  }
}

/** Starts a thread. Deno does not report one that exceeds its heap limit; the time limit ends the task. */
function startThread(program: URL, memoryMb: number): RunningProgram {
  const thread = new Thread(program, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  const exited = new Promise<Error>((resolve) => {
    thread.on('error', (cause) => resolve(new WorkerCrashed('The worker failed', { cause })));
    thread.on('exit', (code) => resolve(new WorkerCrashed(`The worker exited with ${code}`)));
  });
  const send = (request: TaskRequest) => thread.postMessage(request);
  return { events: thread, send, terminate: () => void thread.terminate(), exited };
}

function ignore(): void {}
