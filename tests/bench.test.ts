/** The harness of `npm run bench`: one row from end to end, in small. The numbers themselves are nobody's promise. */
import { expect, test } from '@jest/globals';
import { testMongo } from '#libs/testing';
import { measure } from '../bench/measure.ts';
import { line } from '../bench/report.ts';
import { noOp } from '../bench/rows/starting.ts';

test('a row is measured on both sides and yields finite ratios', async () => {
  const mongo = await testMongo();
  const lines: string[] = [];
  try {
    const { results, rssMb } = await measure({
      mongoUri: mongo.uri,
      rows: [noOp],
      batches: 2,
      share: 0.15,
      done: (result) => lines.push(line(result)),
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
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('authenticated no-op');
  } finally {
    await mongo.stop();
  }
}, 30_000);

const nothing = { min: Number.NaN, median: Number.NaN, max: Number.NaN };
