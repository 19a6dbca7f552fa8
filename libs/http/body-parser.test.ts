/** Many bodies at once do not keep the process from other work. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBodyParser } from './body-parser.ts';

test('other work runs while many bodies are parsed', async () => {
  const parser = createBodyParser();
  const names = Array.from({ length: 20_000 }, (_, index) => [`name${index}`, index]);
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(names)));
  const shape = z.record(z.string(), z.number());
  let isOver = false;
  const parsed = Promise.all(Array.from({ length: 40 }, () => parser.parse('any', shape, bytes)));
  parsed.finally(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver) {
    await setImmediate();
    turns += 1;
  }
  expect((await parsed).every((body) => !body.malformed && body.errors.total === 0)).toBe(true);
  // each body takes some milliseconds, and a slice ends after ten
  expect(turns).toBeGreaterThan(3);
  await parser.close();
});
