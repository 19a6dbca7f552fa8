/** Tests reading the link to the next page. */
import { expect, test } from '@jest/globals';
import { findNextCursor } from './pages.ts';

test.each([
  ['</api/v1/documents?limit=2&cursor=a%2Bb>; rel="next"', 'a+b'],
  ['<https://other.example/x?cursor=abc>; rel=next', 'abc'],
  ['</x?cursor=p>; rel="prev", </x?cursor=n>; rel="next"', 'n'],
  ['</x?cursor=p>; rel="prev"', undefined],
  ['</x>; rel="next"', undefined],
  ['', undefined],
  [null, undefined],
])('the next cursor of %j', (header, expected) => {
  expect(findNextCursor(header)).toBe(expected);
});
