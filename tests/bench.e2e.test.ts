/** Runs the benchmark with one row and one limit at a small scale. It asserts nothing about the measured values. */
import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { testMongo } from '#libs/testing';
import { measureAgainst } from '../bench/against.ts';
import type { BenchFixture } from '../bench/fixture.ts';
import { type Limit, measureLimit } from '../bench/limit.ts';
import { measure } from '../bench/measure.ts';
import { limitLine, resultLine } from '../bench/report.ts';
import type { Row } from '../bench/row.ts';
import { readUnderImports } from '../bench/rows/importing.ts';
import { logIn } from '../bench/rows/logins.ts';
import { overload } from '../bench/rows/overload.ts';
import { publicLinks } from '../bench/rows/public-links.ts';
import { list, readTree, readTreeOfBson } from '../bench/rows/reading.ts';
import { searches } from '../bench/rows/searching.ts';
import { noOp } from '../bench/rows/starting.ts';
import { createDocument, createNode, publish, updateDocument } from '../bench/rows/writing.ts';

test('the benchmark measures one row on both sides and one limit', async () => {
  const mongo = await testMongo();
  const lines: string[] = [];
  try {
    const { results, limits, rssMb } = await measure({
      mongoUri: mongo.uri,
      rows: [noOp],
      limits: searches.slice(1, 2),
      batches: 2,
      share: 0.03,
      onResult: (result) => lines.push(resultLine(result)),
      onLimit: (result) => lines.push(limitLine(result)),
    });
    const [result] = results;
    for (const { min, median, max } of [result?.cpuRatio, result?.rateRatio].map(
      (spread) => spread ?? missing,
    )) {
      expect(min).toBeGreaterThan(0);
      expect(median).toBeGreaterThanOrEqual(min);
      expect(max).toBeGreaterThanOrEqual(median);
      expect(Number.isFinite(max)).toBe(true);
    }
    expect(rssMb.service).toBeGreaterThan(20);
    expect(rssMb.baseline).toBeGreaterThan(20);
    const [limit] = limits;
    expect(limit?.count).toBe(6);
    expect(limit?.value).toBeGreaterThanOrEqual(limit?.median ?? Number.NaN);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('authenticated no-op');
    expect(lines[1]).toMatch(/a word in 0\.1 %.*p95 [\d.]+ ms, goal ≤ 50 ms/);
  } finally {
    await mongo.stop();
  }
});

test('the benchmark measures overload and reads under load of imports', async () => {
  const mongo = await testMongo();
  try {
    const { results, limits } = await measure({
      mongoUri: mongo.uri,
      rows: [readUnderImports],
      limits: overload.slice(0, 4),
      batches: 1,
      share: 0.03,
      onResult: () => undefined,
      onLimit: () => undefined,
    });
    expect(results[0]?.p99Ratio?.median).toBeGreaterThan(0);
    expect(limits.map(({ name }) => name)).toEqual([
      'a request at a third of the capacity',
      'three times the capacity: an accepted request',
      'three times the capacity: a rejected request',
      'three times the capacity: until all requests are accepted again',
    ]);
    expect(limits[1]?.value).toBeGreaterThan(0);
  } finally {
    await mongo.stop();
  }
});

test('the benchmark compares this build with a commit', async () => {
  const impossible: Row = { ...noOp, name: 'impossible', prepare: async () => 'no server' };
  const mongo = await testMongo();
  const lines: string[] = [];
  try {
    await measureAgainst({
      ...{ mongoUri: mongo.uri, ref: 'HEAD', rows: [noOp, impossible], batches: 1, share: 0.03 },
      onResult: (result) => lines.push(resultLine(result)),
      onSkipped: (name, reason) => lines.push(`${name}: ${reason}`),
    });
    expect(lines).toEqual([
      expect.stringMatching(/^authenticated no-op, API key +[\d.]+ /),
      'impossible: no server',
    ]);
    const worktrees = execFileSync('git', ['worktree', 'list'], { encoding: 'utf8' });
    expect(worktrees).not.toContain('bench-against');
    const unknown = { mongoUri: mongo.uri, ref: 'no-such-commit', rows: [], batches: 1, share: 1 };
    await expect(measureAgainst({ ...unknown, onResult: () => undefined })).rejects.toThrow('no-such-commit');
  } finally {
    await mongo.stop();
  }
});

test('the baseline responds like the service to reads and writes', async () => {
  const mongo = await testMongo();
  const links = publicLinks.filter(({ remark = '' }) => !remark.startsWith('paired'));
  const documentRows = [readTree, readTreeOfBson, list, createNode, createDocument, updateDocument, publish];
  const rows = [...documentRows, ...links, logIn];
  try {
    // the benchmark compares the responses, and stops if they differ
    const { results } = await measure({
      mongoUri: mongo.uri,
      rows,
      limits: [],
      batches: 1,
      share: 0.01,
      onResult: () => undefined,
      onLimit: () => undefined,
    });
    expect(results.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
  } finally {
    await mongo.stop();
  }
});

const missing = { min: Number.NaN, median: Number.NaN, max: Number.NaN };

test('a limit reports its statistic and whether it meets its goal', async () => {
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  const report = async (fields: Pick<Limit, 'statistic' | 'goal' | 'isMinimum'>) => {
    const limit: Limit = { name: 'a limit', unit: '/s', ...fields, measure: async () => values };
    // it does not use the fixture
    return limitLine(await measureLimit(limit, {} as BenchFixture, 1));
  };
  expect(await report({ statistic: 'p50', goal: 50 })).toMatch(/p50 50 \/s, goal ≤ 50 \/s ✓/);
  expect(await report({ statistic: 'p99', goal: 98 })).toMatch(/p99 99 \/s, goal ≤ 98 \/s ✗/);
  expect(await report({ statistic: 'median', goal: 50, isMinimum: true })).toMatch(
    /median 50.5 \/s, goal ≥ 50 \/s ✓/,
  );
  expect(await report({ statistic: 'largest', goal: 101, isMinimum: true })).toMatch(/goal ≥ 101 \/s ✗/);
});

test('a limit reports the baseline with the same statistic and the ratio', async () => {
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  const limit: Limit = {
    ...{ name: 'a limit', unit: 'ms', statistic: 'p95', goal: 100 },
    measure: async () => values,
    measureBaseline: async () => values.map((value) => value / 2).toReversed(),
  };
  const result = await measureLimit(limit, {} as BenchFixture, 1);
  expect(result).toMatchObject({ value: 95, baseline: 47.5 });
  expect(limitLine(result)).toMatch(/p95 95 ms, goal ≤ 100 ms ✓; baseline 47\.5 ms \(2\);/);
  const lineOf = async (goal: number) =>
    limitLine(await measureLimit({ ...limit, goal, isRatio: true }, {} as BenchFixture, 1));
  expect(await lineOf(2)).toMatch(/p95 95 ms, goal ≤ 2 times the baseline ✓; baseline 47\.5 ms \(2\);/);
  expect(await lineOf(1.9)).toMatch(/goal ≤ 1.9 times the baseline ✗/);
  const { measureBaseline: _, ...alone } = limit;
  const measuring = measureLimit({ ...alone, isRatio: true }, {} as BenchFixture, 1);
  await expect(measuring).rejects.toThrow('needs a baseline');
});
