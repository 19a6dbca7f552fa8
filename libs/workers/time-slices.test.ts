/** Tests that work in time slices lets other work run in between. */
import { expect, test } from '@jest/globals';
import { runInSlices, type SlicedWork, startTimeSlices } from './time-slices.ts';

function workFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

/** Runs work while other callbacks count the turns of the event loop. */
async function countTurns<Result>(work: Promise<Result>): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work.finally(() => {
    isDone = true;
  });
  return { result, turns };
}

test('work that yields lets other callbacks run and returns its result', async () => {
  function* work(): SlicedWork<string> {
    for (let item = 0; item < 30; item += 1) {
      workFor(1);
      yield;
    }
    return 'done';
  }
  const { result, turns } = await countTurns(runInSlices(work()));
  expect(result).toBe('done');
  expect(turns).toBeGreaterThan(5);
});

test('an error of work that yields rejects the promise', async () => {
  function* work(): SlicedWork<string> {
    yield;
    throw new Error('failed');
  }
  await expect(runInSlices(work())).rejects.toThrow('failed');
});

test('work in time slices lets other callbacks run after each slice', async () => {
  let others = 0;
  let isDone = false;
  const runOthers = () => {
    others += 1;
    if (!isDone) setImmediate(runOthers);
  };
  setImmediate(runOthers);
  const slices = startTimeSlices();
  expect(slices.isOver()).toBe(false);
  for (let slice = 1; slice <= 3; slice += 1) {
    while (!slices.isOver()) workFor(1);
    const before = others;
    await slices.next();
    expect(others).toBeGreaterThan(before);
  }
  isDone = true;
});
