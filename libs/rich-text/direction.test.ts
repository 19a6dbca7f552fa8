/** Tests of the direction of text. */
import { expect, test } from '@jest/globals';
import { findDirection, getDirection, splitByDirection, splitLeaves } from './direction.ts';
import type { RichText } from './tree.ts';

const code = [{ type: 'code' }];
const text = (value: string, marks?: RichText['marks']): RichText => ({
  type: 'text',
  text: value,
  ...(marks && { marks }),
});

test.each([
  ['Close the valve', 'ltr'],
  ['12. أغلق الصمام', 'rtl'],
  ['(שסתום) valve', 'rtl'],
  ['API للصمام', 'ltr'],
  ['رویه', 'rtl'],
  ['طریقہ کار', 'rtl'],
  ['ܣܘܪܝܝܐ', 'rtl'],
  ['𞤀𞤁', 'rtl'],
  ['\u200F2026', 'rtl'],
  ['\u200E2026 שלום', 'ltr'],
  ['多言語 العربية', 'ltr'],
  ['٢٠٢٦ / 5 %', undefined],
  ['', undefined],
])('the first letter of “%s” is %s', (value, direction) => {
  expect(getDirection(value)).toBe(direction);
});

test('the direction of a node is that of its first letter outside of code', () => {
  const paragraph = (...content: RichText[]): RichText => ({ type: 'paragraph', content });
  const block = { type: 'codeBlock', content: [text('rm')] };
  const quote = (...content: RichText[]): RichText => ({ type: 'blockquote', content });
  expect(findDirection(quote(paragraph(text('5')), block, paragraph(text('rm', code), text('احذف'))))).toBe(
    'rtl',
  );
  expect(findDirection(paragraph(text('rm', code)))).toBeUndefined();
});

// would take minutes in quadratic time
test('200,000 signs without a number are split', () => {
  const signs = '%'.repeat(200_000);
  expect(splitByDirection(`${signs} שלום`, 'ltr')).toEqual([
    { text: `${signs} `, direction: 'ltr' },
    { text: 'שלום', direction: 'rtl' },
  ]);
});

const show = (value: string, base: 'ltr' | 'rtl') =>
  splitByDirection(value, base).map((piece) => `${piece.direction === 'rtl' ? '<' : '>'}${piece.text}`);

test.each([
  // without letters of the other direction
  ['Step 5 (of 7).', 'ltr', ['>Step 5 (of 7).']],
  ['الخطوة 5 (من 7).', 'rtl', ['<الخطوة 5 (من 7).']],
  // spaces and brackets between two directions are those of the paragraph
  ['افتح (SAP ERP) الآن.', 'rtl', ['<افتح (', '>SAP ERP', '<) الآن.']],
  ['See (נוהל בטיחות) now.', 'ltr', ['>See (', '<נוהל בטיחות', '>) now.']],
  // a number belongs to the word before it
  ['API 2.0 جاهز', 'rtl', ['>API 2.0', '< جاهز']],
  ['النسخة 2.0 API', 'rtl', ['<النسخة 2.0 ', '>API']],
  ['about שלום 100% more', 'ltr', ['>about ', '<שלום 100%', '> more']],
  ['50 درجة', 'rtl', ['<50 درجة']],
  ['Open ٥٠ now', 'ltr', ['>Open ', '<٥٠', '> now']],
  // marks stay with their letter, a final sign with the paragraph
  ['a כָּ b', 'ltr', ['>a ', '<כָּ', '> b']],
  ['اقرأ README.', 'rtl', ['<اقرأ ', '>README', '<.']],
  ['5', 'rtl', ['<5']],
] as const)('“%s” in a paragraph of %s is split', (value, base, pieces) => {
  expect(show(value, base)).toEqual(pieces);
  expect(
    splitByDirection(value, base)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(value);
});

test('leaves are split, and what is between them has the direction of both', () => {
  const bold = [{ type: 'bold' }];
  const leaves = [
    text('انقر '),
    text('OK', bold),
    text(' أو '),
    text('«نعم» Yes', bold),
    { type: 'hardBreak' },
    text('rm -rf شيء', code),
    text(' فقط'),
  ];
  expect(splitLeaves(leaves, 'rtl')).toEqual([
    { leaf: text('انقر '), direction: 'rtl' },
    { leaf: text('OK', bold), direction: 'ltr' },
    { leaf: text(' أو '), direction: 'rtl' },
    { leaf: text('«نعم» ', bold), direction: 'rtl' },
    { leaf: text('Yes', bold), direction: 'ltr' },
    { leaf: { type: 'hardBreak' }, direction: 'rtl' },
    { leaf: text('rm -rf شيء', code), direction: 'ltr' },
    { leaf: text(' فقط'), direction: 'rtl' },
  ]);
});

test('leaves without letters from right to left stay as they are', () => {
  const leaves = [text('Open '), { type: 'image', attrs: { src: 'x' } }, text('5', code)];
  const split = splitLeaves(leaves, 'ltr');
  expect(split.map(({ direction }) => direction)).toEqual(['ltr', 'ltr', 'ltr']);
  for (const [at, { leaf }] of split.entries()) expect(leaf).toBe(leaves[at]);
});
