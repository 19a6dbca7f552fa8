/** Tests that work in time slices lets other work run in between. */
import { expect, test } from '@jest/globals';
import { startTimeSlices } from './time-slices.ts';

function workFor(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

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
