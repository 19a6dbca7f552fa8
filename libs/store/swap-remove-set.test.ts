/** A set for objects that come and go: it does what a `Set` does, but for the order, and keeps nothing of what was deleted. */
import { expect, test } from '@jest/globals';
import { retainedBytes } from '#libs/testing';
import { SwapRemoveSet } from './swap-remove-set.ts';

/** The same numbers at every run, below `limit`. */
function numbers(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % limit;
  };
}

test('whatever is added, deleted and cleared, it holds what a Set would hold', () => {
  const next = numbers(7);
  const things = Array.from({ length: 12 }, (_, name) => ({ name }));
  const [subject, set] = [new SwapRemoveSet<object>(), new Set<object>()];
  for (let i = 0; i < 5_000; i += 1) {
    const thing = things[next(things.length)] ?? {};
    const what = next(100);
    if (what < 50) {
      expect(subject.add(thing)).toBe(subject);
      set.add(thing);
    } else if (what < 99) expect(subject.delete(thing)).toBe(set.delete(thing));
    else for (const one of [subject, set]) one.clear();
    expect(subject.size).toBe(set.size);
    expect(new Set(subject)).toEqual(set);
  }
});

test('an object may be in several of them', () => {
  const thing = {};
  const [one, other] = [
    new SwapRemoveSet<object>().add(thing),
    new SwapRemoveSet<object>().add({}).add(thing),
  ];
  expect([one.delete(thing), one.size, other.size]).toEqual([true, 0, 2]);
  expect([...other]).toContain(thing);
});

test('whoever goes through it sees all that were in it, also those that are deleted meanwhile', () => {
  const subject = new SwapRemoveSet<{ name: number }>();
  for (const name of [1, 2, 3, 4]) subject.add({ name });
  const seen = [];
  for (const thing of subject) {
    subject.delete(thing);
    seen.push(thing.name);
  }
  expect([seen, subject.size]).toEqual([[1, 2, 3, 4], 0]);
});

test('what was deleted does not pile up until the whole heap is collected', async () => {
  const subject = new SwapRemoveSet<object>();
  const inHand: object[] = [];
  // four at a time, a kilobyte and more each: 40 MB altogether
  const left = await retainedBytes(20_000, () => {
    const thing = { load: new Array(250).fill(0) };
    subject.add(thing);
    inHand.push(thing);
    if (inHand.length > 4) subject.delete(inHand.shift() ?? {});
  });
  expect(left).toBeLessThan(5_000_000);
});
