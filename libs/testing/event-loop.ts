/** Helpers to test, on a machine of any speed, that long work pauses so that other work can run. */

/**
 * Counts the turns of the event loop until the work ends. Each pause of the work lets one turn run, in which a service
 * would answer other requests. The result can be one less than the number of pauses.
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
 * Runs work while each call of `performance.now` advances the clock by 1 ms, and nothing else does. A time slice lasts
 * 2 ms, so work that reads the clock once per item pauses after every second item.
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
