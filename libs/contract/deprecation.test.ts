/** The dates of a deprecation are checked, and become the headers of RFC 9745 and RFC 8594. */
import { expect, test } from '@jest/globals';
import { checkDeprecation, deprecationHeaders } from './deprecation.ts';

const instead = 'Use `getDocument`.';

test('a deprecation becomes the headers Deprecation and Sunset', () => {
  const deprecated = { since: '2023-06-30', sunset: '2024-06-30', instead };
  expect(deprecationHeaders({ deprecated })).toEqual({
    Deprecation: '@1688083200',
    Sunset: 'Sun, 30 Jun 2024 00:00:00 GMT',
  });
});

test('without a planned removal there is no Sunset header', () => {
  const deprecated = { since: '2023-06-30', instead };
  expect(deprecationHeaders({ deprecated })).toEqual({ Deprecation: '@1688083200' });
  expect(deprecationHeaders({})).toEqual({});
});

test('a sunset must leave clients 180 days', () => {
  expect(() => checkDeprecation({ since: '2026-01-01', sunset: '2026-06-29', instead })).toThrow(
    'less than 180 days',
  );
  checkDeprecation({ since: '2026-01-01', sunset: '2026-06-30', instead });
});

test.each(['2026-02-30', '2026-1-1', '24.11.2026', '2026-11-24T00:00:00Z', ''])('%s is not a day', (day) => {
  expect(() => checkDeprecation({ since: day, instead })).toThrow('Not a day');
  expect(() => checkDeprecation({ since: '2026-01-01', sunset: day, instead })).toThrow('Not a day');
});
