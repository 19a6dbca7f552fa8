/** Tests that work in time slices lets other work run in between. */
import { expect, test } from '@jest/globals';
import { countTurns, withTickClock } from '../testing/event-loop.ts';
import { runInSlices, type SlicedWork, startTimeSlices } from './time-slices.ts';

function* yieldTimes(count: number): SlicedWork<string> {
  for (let item = 0; item < count; item += 1) yield;
  return 'done';
}

test('work that yields lets other callbacks run and returns its result', async () => {
  const { result, turns } = await withTickClock(() => countTurns(runInSlices(yieldTimes(30))));
  expect(result).toBe('done');
  expect(turns).toBeGreaterThanOrEqual(14);
});

test('work that ends within the first slice does not wait for others', async () => {
  const { result, turns } = await withTickClock(() => countTurns(runInSlices(yieldTimes(1))));
  expect({ result, turns }).toEqual({ result: 'done', turns: 0 });
});

test('an error of work that yields rejects the promise', async () => {
  function* work(): SlicedWork<string> {
    yield;
    throw new Error('failed');
  }
  await expect(runInSlices(work())).rejects.toThrow('failed');
});

test('work in time slices lets other callbacks run after each slice', async () => {
  const work = async () => {
    const slices = startTimeSlices();
    for (let slice = 0; slice < 15; slice += 1) {
      expect([slices.isOver(), slices.isOver()]).toEqual([false, true]);
      await slices.next();
    }
  };
  const { turns } = await withTickClock(() => countTurns(work()));
  expect(turns).toBeGreaterThanOrEqual(14);
});
