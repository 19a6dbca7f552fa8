/** For tests that long work lets other work run in between, on a machine of any speed. */

/**
 * Counts the turns of the event loop while the work runs. Other requests are served in each of them. The turn of the
 * first or last pause may not count.
 */
export async function countTurns<Result>(work: Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    if (isDone) return;
    turns += 1;
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    const result = await work;
    return { result, turns };
  } finally {
    isDone = true;
  }
}

/**
 * Runs work while `performance.now` advances by 1 ms at each look, and only then. So work that looks at the clock after
 * each item pauses after every second one, because a time slice lasts 2 ms.
 */
export async function withTickClock<Result>(run: () => Promise<Result>): Promise<Result> {
  const { now } = performance;
  let ms = performance.now();
  performance.now = () => {
    ms += 1;
    return ms;
  };
  try {
    return await run();
  } finally {
    performance.now = now;
  }
}
