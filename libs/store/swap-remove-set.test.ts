/**
 * Tests that `SwapRemoveSet` behaves like `Set` except for the order, and that it retains no deleted objects.
 */
import { expect, test } from '@jest/globals';
import { retainedBytes } from '#libs/testing';
import { SwapRemoveSet } from './swap-remove-set.ts';

/** A seeded generator of pseudorandom integers below `limit`. */
function createRandom(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % limit;
  };
}

test('a SwapRemoveSet has the same contents as a Set after random operations', () => {
  const next = createRandom(7);
  const things = Array.from({ length: 12 }, (_, name) => ({ name }));
  const [subject, set] = [new SwapRemoveSet<object>(), new Set<object>()];
  for (let i = 0; i < 5_000; i += 1) {
    const thing = things[next(things.length)] ?? {};
    const choice = next(100);
    if (choice < 50) {
      expect(subject.add(thing)).toBe(subject);
      set.add(thing);
    } else if (choice < 99) expect(subject.delete(thing)).toBe(set.delete(thing));
    else for (const each of [subject, set]) each.clear();
    expect(subject.size).toBe(set.size);
    expect(new Set(subject)).toEqual(set);
  }
});

test('an object can be in several SwapRemoveSets', () => {
  const thing = {};
  const [one, other] = [
    new SwapRemoveSet<object>().add(thing),
    new SwapRemoveSet<object>().add({}).add(thing),
  ];
  expect([one.delete(thing), one.size, other.size]).toEqual([true, 0, 2]);
  expect([...other]).toContain(thing);
});

test('iterating yields all objects, including those deleted meanwhile', () => {
  const subject = new SwapRemoveSet<{ name: number }>();
  for (const name of [1, 2, 3, 4]) subject.add({ name });
  const seen = [];
  for (const thing of subject) {
    subject.delete(thing);
    seen.push(thing.name);
  }
  expect([seen, subject.size]).toEqual([[1, 2, 3, 4], 0]);
});

test('deleted objects do not accumulate between full garbage collections', async () => {
  const subject = new SwapRemoveSet<object>();
  const current: object[] = [];
  // four at a time, at least 1 KB each: 40 MB in total
  const left = await retainedBytes(20_000, () => {
    const thing = { load: new Array(250).fill(0) };
    subject.add(thing);
    current.push(thing);
    if (current.length > 4) subject.delete(current.shift() ?? {});
  });
  expect(left).toBeLessThan(5_000_000);
});
