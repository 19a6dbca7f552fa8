/** Tests which texts are host names. */
import { expect, test } from '@jest/globals';
import { isHostName } from './host-name.ts';

test.each([
  'a',
  'localhost',
  'hooks.a-b.example',
  'xn--mnchen-3ya.example',
  '_dmarc.example',
  '3.example',
  `${'a'.repeat(63)}.example`,
])('%s is a host name', (name) => {
  expect(isHostName(name)).toBe(true);
});

test.each([
  '',
  '.',
  'a.',
  '.a',
  'a..b',
  '-a.example',
  'a-.example',
  '*.example',
  'a b',
  'A.example',
  'a/b',
  'münchen.example',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(126)}aa`,
])('"%s" is not a host name', (name) => {
  expect(isHostName(name)).toBe(false);
});

test('a long text is checked quickly', () => {
  expect(isHostName('a-'.repeat(1_000_000))).toBe(false);
});
