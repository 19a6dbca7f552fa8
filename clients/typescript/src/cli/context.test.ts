/** Tests how tables are printed. */
import { expect, test } from '@jest/globals';
import { formatTable } from './context.ts';

test('columns are as wide as their longest cell, except the last one', () => {
  expect(formatTable(['ID', 'TITLE'], [['long id', 'a  b'], [null]])).toBe('ID       TITLE\nlong id  a b\n');
});

test('a table can have 200,000 rows', () => {
  const rows = Array.from({ length: 200_000 }, () => ['x', 'y']);
  expect(formatTable(['A', 'B'], rows)).toHaveLength(4 * 200_001 + 200_000);
});
