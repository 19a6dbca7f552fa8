/** Tests of link targets. */
import { expect, test } from '@jest/globals';
import { safeHref } from './link.ts';

test('safeHref normalizes absolute http, https and mailto URLs', () => {
  expect(safeHref('https://A.example/ü?q=1#x')).toBe('https://a.example/%C3%BC?q=1#x');
  expect(safeHref('HTTP://a.example')).toBe('http://a.example/');
  expect(safeHref('mailto:ann@a.example?subject=Hi')).toBe('mailto:ann@a.example?subject=Hi');
  expect(safeHref('\u00a0 https://a.ex\nam\u0001p\u0085le/\u0000 ')).toBe('https://a.example/');
});

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'java\u0000script:alert(1)',
  ' \u0001javascript:alert(1)',
  'javascript\t:alert(1)',
  'java\u200bscript:alert(1)',
  'javascript&colon;alert(1)',
  '&#106;avascript:alert(1)',
  'vbscript:msgbox(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://a.example/1',
  'file:///etc/passwd',
  'ftp://a.example/',
  'ms-word:ofe|u|https://a.example',
  'view-source:https://a.example',
  '//a.example/',
  '/login',
  'page.html',
  '#top',
  'https://',
  'https://[::1',
  'http://a b/',
  '',
  undefined,
  null,
  7,
  ['https://a.example/'],
  { href: 'https://a.example/' },
])('safeHref rejects %j', (value) => {
  expect(safeHref(value)).toBeUndefined();
});
