/** Tests of language tags: which are valid, and their canonical form. */
import { expect, test } from '@jest/globals';
import { languageTag } from './language-tag.ts';

test.each([
  ['EN', 'en'],
  ['de-ch', 'de-CH'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['es-419', 'es-419'],
  ['de-DE-1996', 'de-DE-1996'],
  ['sl-ROZAJ', 'sl-rozaj'],
  ['iw', 'he'],
])('the language tag %s is stored as %s', (tag, canonical) => {
  expect(languageTag.parse(tag)).toBe(canonical);
});

test.each([
  '',
  'e',
  'English language',
  'en_US',
  'de-',
  'en-US-u-ca-buddhist',
  'x-own',
  '../en',
  'en"',
  ' en',
])('the language tag %j is rejected', (tag) => {
  expect(languageTag.safeParse(tag).success).toBe(false);
});

test('every tag that matches the pattern of the reference is accepted', () => {
  const options = [
    ['de', 'DEU', 'abcde', 'abcdefgh'],
    ['', '-Latn'],
    ['', '-XX', '-999'],
    ['', '-1abc', '-variant1'],
  ];
  const tags = options.reduce<string[]>(
    (heads, tails) => heads.flatMap((head) => tails.map((tail) => head + tail)),
    [''],
  );
  expect(tags.filter((tag) => !languageTag.safeParse(tag).success)).toEqual([]);
});
