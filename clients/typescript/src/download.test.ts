/** Tests the file names of downloads. */
import { expect, test } from '@jest/globals';
import { parseFileName } from './download.ts';

test.each([
  [`attachment; filename="SOP.docx"`, 'SOP.docx'],
  [`attachment; filename=SOP.docx`, 'SOP.docx'],
  [`attachment; filename="?.docx"; filename*=UTF-8''%E2%82%AC%20rates.docx`, '€ rates.docx'],
  [`attachment; filename="say \\"hi\\".md"`, 'say "hi".md'],
  [`attachment; filename*=UTF-8''%E0; filename="plain.md"`, 'plain.md'],
  [`attachment; filename="../../etc/passwd"`, 'passwd'],
  [`attachment; filename*=UTF-8''..%5C..%5Cboot.ini`, 'boot.ini'],
  [`attachment; filename*=utf-8''a%0A%2F..%2F..%2Fx`, 'x'],
  [`attachment; filename=".."`, undefined],
  [`attachment; filename=a/.`, undefined],
  [`attachment; filename*=UTF-8''a%00b`, undefined],
  [`attachment; filename*=UTF-8''a%0Ab`, undefined],
  [`attachment; filename*=UTF-8''a%C2%9Bb`, undefined],
  ['attachment', undefined],
  ['', undefined],
])('the file name of %j', (header, expected) => {
  expect(parseFileName(header)).toBe(expected);
});
