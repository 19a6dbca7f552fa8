/** Many bodies at once do not keep the process from other work. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { countTurns, withTickClock } from '#libs/testing';
import { createBodyParser } from './body-parser.ts';

test('other work runs while many bodies are parsed', async () => {
  const parser = createBodyParser();
  const names = Array.from({ length: 1_000 }, (_, index) => [`name${index}`, index]);
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(names)));
  const shape = z.record(z.string(), z.number());
  const { result, turns } = await withTickClock(() =>
    countTurns(Promise.all(Array.from({ length: 40 }, () => parser.parse('any', shape, bytes, 'ada')))),
  );
  expect(result.every((body) => !body.malformed && body.errors.total === 0)).toBe(true);
  expect(turns).toBeGreaterThanOrEqual(19);
  await parser.close();
});
