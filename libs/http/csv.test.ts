/** Tests lines of CSV: quotes, and cells that a spreadsheet would run. */
import { expect, test } from '@jest/globals';
import { toCsvLine } from './csv.ts';

test('a line has quoted cells where needed, and empty ones for null', () => {
  expect(toCsvLine(['a', 7, null, '', 'b c', 'x,y', 'say "no"', 'two\nlines', 'one\r'])).toBe(
    'a,7,,,b c,"x,y","say ""no""","two\nlines","one\r"\r\n',
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("http://x.example","a")', '"\'=HYPERLINK(""http://x.example"",""a"")"'],
  ['a=1', 'a=1'],
  [' =1', ' =1'],
  ["'=1", "'=1"],
])('spreadsheets show the cell %j as text', (cell, expected) => {
  expect(toCsvLine([cell, 'end'])).toBe(`${expected},end\r\n`);
});
