/** The harness of `npm run bench`: a row and a promise from end to end, in small. The numbers themselves are nobody's promise. */
import { expect, test } from '@jest/globals';
import { testMongo } from '#libs/testing';
import type { BenchFixture } from '../bench/fixture.ts';
import { type Limit, measureLimit } from '../bench/limit.ts';
import { measure } from '../bench/measure.ts';
import { line, timingLine } from '../bench/report.ts';
import { searches } from '../bench/rows/searching.ts';
import { noOp } from '../bench/rows/starting.ts';

test('a row is measured on both sides and yields finite ratios, a promise a plain number', async () => {
  const mongo = await testMongo();
  const lines: string[] = [];
  try {
    const { results, timings, rssMb } = await measure({
      mongoUri: mongo.uri,
      rows: [noOp],
      timings: searches.slice(1, 2),
      batches: 2,
      share: 0.03,
      done: (result) => lines.push(line(result)),
      told: (result) => lines.push(timingLine(result)),
    });
    const [result] = results;
    for (const { min, median, max } of [result?.cpuRatio, result?.rateRatio].map((one) => one ?? nothing)) {
      expect(min).toBeGreaterThan(0);
      expect(median).toBeGreaterThanOrEqual(min);
      expect(max).toBeGreaterThanOrEqual(median);
      expect(Number.isFinite(max)).toBe(true);
    }
    expect(rssMb.ours).toBeGreaterThan(20);
    expect(rssMb.floor).toBeGreaterThan(20);
    const [timing] = timings;
    expect(timing?.measured).toBe(6);
    expect(timing?.value).toBeGreaterThanOrEqual(timing?.median ?? Number.NaN);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('authenticated no-op');
    expect(lines[1]).toMatch(/a word in 0\.1 %.*p95 [\d.]+ ms, goal ≤ 50 ms/);
  } finally {
    await mongo.stop();
  }
}, 30_000);

const nothing = { min: Number.NaN, median: Number.NaN, max: Number.NaN };

test('a goal is met from below, or where it says so from above; the percentile that counts is told', async () => {
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  const told = async (limit: Pick<Limit, 'counts' | 'goal' | 'atLeast'>) => {
    const timing: Limit = { name: 'a promise', unit: '/s', ...limit, take: async () => values };
    // it asks for nothing on the stage
    return timingLine(await measureLimit(timing, {} as BenchFixture, 1));
  };
  expect(await told({ counts: 'p50', goal: 50 })).toMatch(/p50 50 \/s, goal ≤ 50 \/s ✓/);
  expect(await told({ counts: 'p99', goal: 98 })).toMatch(/p99 99 \/s, goal ≤ 98 \/s ✗/);
  expect(await told({ counts: 'median', goal: 50, atLeast: true })).toMatch(
    /median 50.5 \/s, goal ≥ 50 \/s ✓/,
  );
  expect(await told({ counts: 'largest', goal: 101, atLeast: true })).toMatch(/goal ≥ 101 \/s ✗/);
});

test('a floor that was measured too is told with the same percentile of it, and the ratio', async () => {
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  const timing: Limit = {
    ...{ name: 'a promise', unit: 'ms', counts: 'p95', goal: 100 },
    take: async () => values,
    takeFloor: async () => values.map((value) => value / 2).toReversed(),
  };
  const result = await measureLimit(timing, {} as BenchFixture, 1);
  expect(result).toMatchObject({ value: 95, floor: 47.5 });
  expect(timingLine(result)).toMatch(/p95 95 ms, goal ≤ 100 ms ✓; floor 47\.5 ms \(2\);/);
});
