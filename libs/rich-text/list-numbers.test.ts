/** Tests of the space that the numbers of lists get. */
import { expect, test } from '@jest/globals';
import { toHtml } from './html.ts';
import { getNumbersClass } from './list-numbers.ts';

test.each([
  ['up to 99', { start: 1, count: 99 }, undefined],
  ['from 100', { start: 98, count: 3 }, 'numbers-2'],
  ['from 1000', { start: 999, count: 2, type: '1' }, 'numbers-3'],
  ['the largest', { start: 32_767, count: 1 }, 'numbers-3'],
  ['letters', { start: 1, count: 26, type: 'a' }, undefined],
  ['two letters', { start: 1, count: 702, type: 'A' }, 'numbers-2'],
  ['three letters', { start: 703, count: 1, type: 'a' }, 'numbers-2'],
  ['up to vii', { start: 1, count: 3, type: 'i' }, undefined],
  ['viii before ix', { start: 8, count: 2, type: 'i' }, 'numbers-2'],
  ['up to xviii', { start: 1, count: 19, type: 'I' }, 'numbers-3'],
  ['xxxviii', { start: 38, count: 1, type: 'i' }, 'numbers-4'],
  ['the widest', { start: 3888, count: 1, type: 'i' }, 'numbers-6'],
  ['Roman zero', { start: 0, count: 1, type: 'i' }, undefined],
  ['an empty list', { start: 1, count: 0 }, undefined],
])('numbers have enough space: %s', (_, list, expected) => {
  expect(getNumbersClass({ type: undefined, ...list })).toBe(expected);
});

test('a list with wide numbers has a class', () => {
  const item = { type: 'listItem', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'a' }] }] };
  const list = { type: 'orderedList', attrs: { start: 99 }, content: [item, item] };
  expect(toHtml({ type: 'doc', content: [list] })).toContain('<ol start="99" class="numbers-2"><li>');
});
