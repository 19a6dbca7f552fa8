/** Tests of what a page knows about the language of its document. */
import { expect, test } from '@jest/globals';
import { getPageLanguage } from './language.ts';

const at = new Date('2026-11-21T09:05:00.000Z');

test.each([
  ['en', '21 November 2026'],
  ['en-US', 'November 21, 2026'],
  ['de-CH', '21. November 2026'],
  ['fr', '21 novembre 2026'],
  ['es-MX', '21 de noviembre de 2026'],
  ['ja', '2026年11月21日'],
  ['tlh', '21 November 2026'],
])('dates in %s are like %s, in UTC', (tag, day) => {
  const { formatDay, formatMinute } = getPageLanguage(tag);
  expect([formatDay(at), formatDay(new Date('2026-11-21T23:59:59Z'))]).toEqual([day, day]);
  // the words around the time depend on the version of ICU
  for (const part of [day, '09:05', 'UTC']) expect(formatMinute(at)).toContain(part);
});

test('a language with another calendar has Gregorian dates, too', () => {
  for (const tag of ['th', 'fa']) expect(getPageLanguage(tag).formatDay(at)).toMatch(/2026|۲۰۲۶/);
});

test.each([
  ['de-AT', 'Inhalt', false],
  ['es-419', 'Contenido', false],
  ['nl', 'Contents', true],
])('the words of %s are like “%s”', (tag, contents, hasForeignWords) => {
  expect(getPageLanguage(tag)).toMatchObject({ tag, words: { contents }, hasForeignWords });
});

test.each(['ar', 'he', 'fa-IR', 'ur', 'az-Arab', 'uz-AF', 'ks'])(
  '%s is written from right to left',
  (tag) => {
    expect(getPageLanguage(tag).direction).toBe('rtl');
  },
);

test('other languages go from left to right; English is the default', () => {
  for (const tag of ['en', 'az', 'ja', 'ar-Latn', 'und', 'tlh'])
    expect(getPageLanguage(tag).direction).toBe('ltr');
  for (const missing of [null, undefined]) expect(getPageLanguage(missing).tag).toBe('en');
});
