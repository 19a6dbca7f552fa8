/** Tests the comparison of texts word by word, and its limits. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maxAllEdits, maxTextEdits, reverseEdits, startWordDiff } from './word-diff.ts';

type Short = [op: '=' | '+' | '-', text: string];

const operators = { equal: '=', insert: '+', delete: '-' } as const;

function compare(from: string, to: string): Short[] {
  const edits = startWordDiff().compare(from, to);
  return edits.map(({ op, text }) => [operators[op], text]);
}

const listWords = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`);
/** Texts of equal words, of which the first `edits / 2` are replaced. */
function createTexts(edits: number, words: number): [string, string] {
  const texts = ['a', 'b'].map((prefix) => [
    ...listWords(edits / 2, prefix),
    ...listWords(words - edits / 2, 'same'),
  ]);
  return texts.map((text) => text.join(' ')) as [string, string];
}

describe('the comparison of two texts', () => {
  test.each<[string, string, string, Short[]]>([
    ['equal texts', 'a b', 'a b', []],
    [
      'a word',
      'Turn to 2.',
      'Turn to 3.',
      [
        ['=', 'Turn to '],
        ['-', '2'],
        ['+', '3'],
        ['=', '.'],
      ],
    ],
    [
      'punctuation',
      'a, b',
      'a; b',
      [
        ['=', 'a'],
        ['-', ','],
        ['+', ';'],
        ['=', ' b'],
      ],
    ],
    [
      'a new line',
      'a\nb',
      'a\nx\nb',
      [
        ['=', 'a\n'],
        ['+', 'x\n'],
        ['=', 'b'],
      ],
    ],
    ['no text before', '', 'a b', [['+', 'a b']]],
    ['no text after', 'a b', '', [['-', 'a b']]],
    [
      'other letters',
      'Größe Ключ',
      'Größe Ключи',
      [
        ['=', 'Größe '],
        ['-', 'Ключ'],
        ['+', 'Ключи'],
      ],
    ],
    [
      'Chinese',
      '打开阀门',
      '关闭阀门',
      [
        ['-', '打开'],
        ['+', '关闭'],
        ['=', '阀门'],
      ],
    ],
    [
      'a combined letter',
      'ne\u0301',
      'ne',
      [
        ['-', 'ne\u0301'],
        ['+', 'ne'],
      ],
    ],
    [
      'an emoji',
      'a 🛠',
      'a 🔧',
      [
        ['=', 'a '],
        ['-', '🛠'],
        ['+', '🔧'],
      ],
    ],
  ])('%s', (_, from, to, edits) => expect(compare(from, to)).toEqual(edits));

  test('gives both texts, and reversed the other way round', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', 'c.', '\n', '漢', 'é'), { maxLength: 30 });
    const property = fc.property(text, text, (from, to) => {
      const edits = startWordDiff().compare(from.join(''), to.join(''));
      const join = (without: string, list = edits) =>
        list.flatMap(({ op, text }) => (op === without ? [] : [text])).join('');
      expect([edits.length === 0 ? from.join('') : join('insert')]).toEqual([from.join('')]);
      expect([edits.length === 0 ? to.join('') : join('delete')]).toEqual([to.join('')]);
      expect(reverseEdits(reverseEdits(edits))).toEqual(edits);
      expect(join('delete', reverseEdits(edits))).toBe(join('insert'));
    });
    fc.assert(property, { seed: 26, numRuns: 500 });
  });
});

describe('the limits', () => {
  const sizes = [maxTextEdits, 20_000];

  test.each(sizes)('a text of %i words may have 500 edits', (words) => {
    const [from, to] = createTexts(maxTextEdits, words);
    expect(compare(from, to).filter(([op]) => op === '=').length).toBeGreaterThan(1);
  });

  test.each(sizes)('a text of %i words with 502 edits is replaced', (words) => {
    const [from, to] = createTexts(maxTextEdits + 2, words);
    expect(compare(from, to)).toEqual([
      ['-', from],
      ['+', to],
    ]);
  });

  test.each<[string, number]>([
    ['edits', maxTextEdits],
    ['edits above the limit of a text', maxTextEdits + 2],
  ])('after 20,000 %s, every text is replaced', (_, edits) => {
    const [from, to] = createTexts(edits, 600);
    const words = startWordDiff();
    for (let left = maxAllEdits; left > 0; left -= maxTextEdits) {
      expect(words.compare('a b', 'a b').length).toBe(0);
      words.compare(from, to);
    }
    expect(words.compare('a b', 'a c').map(({ op }) => op)).toEqual(['delete', 'insert']);
  });
});
