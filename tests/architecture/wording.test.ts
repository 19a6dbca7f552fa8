/** The checks of names and sentences find what they are for, and accept what is fine. */
import { expect, test } from '@jest/globals';
import {
  findAdrFaults,
  findBannedComments,
  findBannedFileWords,
  findBannedNames,
  findBannedProse,
  findLongLines,
  findTestNames,
} from './wording.ts';

const textsOf = (findings: readonly { text: string }[]) => findings.map(({ text }) => text);

test.each([
  ['interface Told {', 'Told'],
  ['const house = 1;', 'house'],
  ['function openOffice() {', 'openOffice'],
  ['let setAside = 0;', 'setAside'],
  ['function opened(id: string) {', 'opened'],
  ['function bodyOf(row: Row) {', 'bodyOf'],
  ['function send(of: Options) {', 'of'],
  ['  async take({ id }, of) {', 'of'],
  ['const [name, of] = entry;', 'of'],
  ['items.map((of) => of.id);', 'of'],
])('findBannedNames refuses %s', (code, name) => {
  expect(textsOf(findBannedNames(code))).toEqual([name]);
});

test.each([
  'for (const row of rows) {',
  "const text = 'a list (of rooms)';",
  '// the owner (of, say, a document)',
  'const libreoffice = 1;',
  'function embed() {',
  'Array.of(1, 2);',
])('findBannedNames accepts %s', (code) => {
  expect(findBannedNames(code)).toEqual([]);
});

test('findBannedFileWords finds whole words of a path', () => {
  expect(findBannedFileWords('libs/testing/house.ts')).toEqual(['house']);
  expect(findBannedFileWords('libs/testing/libreoffice.ts')).toEqual([]);
});

test('findBannedComments reads comments only', () => {
  expect(findBannedComments('// the row is in hand\nconst text = "in hand";')).toEqual([
    { line: 1, text: '// the row is in hand' },
  ]);
  expect(findBannedComments('/**\n * A door to the store.\n */')).toHaveLength(1);
  expect(findBannedComments('/** Converts with LibreOffice to Office Open XML. */')).toEqual([]);
});

test('findBannedProse skips code blocks and code spans', () => {
  expect(findBannedProse('An event is set aside.')).toHaveLength(1);
  expect(findBannedProse('The field `office`.\n```sh\ncat office\n```')).toEqual([]);
});

test('findLongLines skips tables, addresses and code', () => {
  const long = 'word '.repeat(30);
  expect(findLongLines('a.md', `${long}\n| ${long}\nhttps://${long}\n\`\`\`\n${long}\n\`\`\``)).toHaveLength(
    1,
  );
  expect(findLongLines('a.ts', `// ${long}\nconst text = '${long}';`)).toHaveLength(1);
});

test('findTestNames joins the names of groups', () => {
  const text = [
    "describe('publish', () => {",
    "  test('fails without a title', () => {});",
    '  test.each([',
    "    ['a'],",
    "  ])('accepts %s', () => {});",
    '});',
    'test(',
    "  'stands alone',",
  ].join('\n');
  expect(findTestNames(text).map(({ fullName }) => fullName)).toEqual([
    'publish',
    'publish > fails without a title',
    'publish > accepts %s',
    'stands alone',
  ]);
});

test('findAdrFaults checks title, status, date and length', () => {
  expect(findAdrFaults('# 1. Keep it short\n\nStatus: accepted\nDate: 2026-01-31\n')).toEqual([]);
  const title = 'One two three four five six seven eight nine';
  expect(findAdrFaults(`# ${title}\n${'word '.repeat(250)}`)).toEqual([
    `title "${title}" has to be 1 to 8 words`,
    'no status',
    'no date',
    '260 words',
  ]);
});
