/** Tests file names: any title becomes a name that every operating system accepts. */
import { expect, test } from '@jest/globals';
import { toFileName } from './file-name.ts';

test.each([
  ['Incident response', 'Incident response.docx'],
  ['a/b\\c:d*e?f"g<h>i|j', 'a-b-c-d-e-f-g-h-i-j.docx'],
  ['Zürich – Überweisung 支払い 🎉', 'Zürich – Überweisung 支払い 🎉.docx'],
  ['e\u0301', 'é.docx'],
  ['\u202Ecod.exe\u0007', 'cod.exe.docx'],
  ['two\nlines\tand more', 'two lines and more.docx'],
  ['  .hidden.  ', 'hidden.docx'],
  ['con', 'con_.docx'],
  ['LPT1.backup', 'LPT1_.backup.docx'],
  ['console', 'console.docx'],
  ['', 'document.docx'],
  [' .. ', 'document.docx'],
  ['a\uD800b', 'a\uFFFDb.docx'],
])('the title %j becomes the file %j', (title, expected) => {
  expect(toFileName(title, 'docx')).toBe(expected);
});

test.each([
  ['SOP', '4.2', 'SOP 4.2.docx'],
  ['SOP', 'Rev. B/3: "new"', 'SOP Rev. B-3- -new-.docx'],
  ['SOP', ' .. ', 'SOP.docx'],
  ['', '4', 'document 4.docx'],
  ['con', '1', 'con 1.docx'],
  ['x'.repeat(500), '4.2', `${'x'.repeat(170)} 4.2.docx`],
])('the title %j of version %j becomes the file %j', (title, version, expected) => {
  expect(toFileName(title, 'docx', version)).toBe(expected);
});

test('a long version label leaves room for the title', () => {
  const name = toFileName('Title', 'md', 'ü'.repeat(300));
  expect(name).toMatch(/^Title ü{30}\.md$/);
});

test('a long file name is cut to 180 bytes between characters', () => {
  const family = '👨‍👩‍👧‍👦';
  const name = toFileName(family.repeat(40), 'md');
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
  expect(name.replace(/\.md$/, '')).toMatch(new RegExp(`^(${family})+$`));
  expect(Buffer.byteLength(toFileName('x'.repeat(500), 'docx'))).toBeGreaterThan(170);
});
