/** The harness of `npm run bench`: a row and a promise from end to end, in small. The numbers themselves are nobody's promise. */
import { expect, test } from '@jest/globals';
import { testMongo } from '#libs/testing';
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
