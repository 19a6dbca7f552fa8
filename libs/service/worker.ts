/** Periodic workers. */
import type { Worker } from './service.ts';

/**
 * Creates a worker that repeats `work` with a pause of `pauseMs` after each run. Runs never overlap. `stop` waits for
 * the current run, so a long one ends early if `isStopped` returns true. Errors are passed to `onError` and do not stop
 * the worker.
 */
export function every(
  pauseMs: number,
  work: (isStopped: () => boolean) => Promise<void>,
  onError: (error: unknown) => void,
): Worker {
  let timer: NodeJS.Timeout | undefined;
  let run = Promise.resolve();
  let started = false;
  let stopped = false;

  const startRun = () => {
    run = attempt().then(() => {
      if (!stopped) timer = setTimeout(startRun, pauseMs);
    });
  };
  const attempt = async () => {
    try {
      await work(() => stopped);
    } catch (error) {
      onError(error);
    }
  };
  return {
    start() {
      if (started || stopped) return;
      started = true;
      startRun();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await run;
    },
  };
}
