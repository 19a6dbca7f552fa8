/** Generates hostile texts and trees for tests; the same seed gives the same results. */
import type { Mark, RichText } from '../../libs/rich-text/tree.ts';

type Random = { below(limit: number): number; pick<T>(choices: readonly [T, ...T[]]): T };

const pieces = [
  ...[
    '*',
    '_',
    '`',
    '~',
    '#',
    '>',
    '-',
    '+',
    '=',
    '|',
    ':',
    '!',
    '[',
    ']',
    '(',
    ')',
    '<',
    '&',
    '\\',
    '"',
    "'",
    '.',
    '@',
  ],
  ...[
    ' ',
    '  ',
    '\t',
    '\n',
    '\r\n',
    '\u00a0',
    '1.',
    '12)',
    '---',
    '```',
    '~~~',
    '**',
    '__',
    '![',
    '](',
    '[^1]',
    '[x] ',
  ],
  ...[
    '<b>',
    '</p>',
    '<!--',
    '-->',
    '<?x',
    ']]>',
    '&amp;',
    '&#60;',
    '&lt',
    '<script>',
    'javascript:',
    'https://a.example',
    'www.',
    'a@b.example',
    '<7@a',
  ],
  ...[
    'a',
    'B',
    '7',
    'word',
    'ß',
    '漢',
    '😀',
    'é',
    '\u202e',
    '\u200b',
    '\0',
    '\u0007',
    '\ud800',
    '\ufffe',
    '|-|-|',
    ':-:',
  ],
] as [string, ...string[]]; // the literal is not empty
const types = [
  ...[
    'doc',
    'paragraph',
    'heading',
    'codeBlock',
    'blockquote',
    'bulletList',
    'orderedList',
    'taskList',
    'listItem',
  ],
  ...[
    'taskItem',
    'table',
    'tableRow',
    'tableCell',
    'tableHeader',
    'horizontalRule',
    'hardBreak',
    'image',
    'text',
    'text',
  ],
  ...[
    'callout',
    'bullet_list',
    'ordered_list',
    'list_item',
    'code_block',
    'hard_break',
    'mention',
    'math_display',
    'script',
    '__proto__',
    'constructor',
    '<img src=x onerror=alert(1)>',
  ],
] as [string, ...string[]]; // the literal is not empty
const marks: [string, ...string[]] = [
  'bold',
  'italic',
  'code',
  'link',
  'highlight',
  'underline',
  'textStyle',
  'strong',
  'toString',
  '<b>',
];
const targets: [unknown, ...unknown[]] = [
  'https://a.example/?a=1&b="2"',
  'mailto:a@b.example',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '//a.example',
  7,
  null,
  { toString: 'x' },
];

/** Creates a deterministic pseudorandom generator (Marsaglia's 32-bit xorshift). */
export function createRandom(seed: number): Random {
  let state = seed || 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return { below, pick: (choices) => choices[below(choices.length)] ?? choices[0] };
}

/** A text of 1 to 12 pieces: markup, entities, control characters and words. */
export function hostileText(random: Random): string {
  return Array.from({ length: 1 + random.below(12) }, () => random.pick(pieces)).join('');
}

/**
 * A tree of known and unknown nodes in any order, at most `depth` levels deep, with all kinds of attributes
 * and marks.
 */
export function hostileTree(random: Random, depth = 6): RichText {
  const type = random.pick(types);
  const attrs = {
    href: random.pick(targets),
    src: random.pick(targets),
    alt: hostileText(random),
    title: hostileText(random),
    level: random.pick<unknown>([1, 6, 99, -1, '1', null]),
    textAlign: random.pick<unknown>(['center', '" onclick="alert(1)', 3]),
    language: random.pick<unknown>(['ts', '"><script>', {}]),
    colspan: random.pick<unknown>([2, -2, 1e9, '2" onload="x']),
    start: random.pick<unknown>([1, 3, -3, Number.NaN]),
    kind: random.pick<unknown>(['danger', 'tip', '" onclick="alert(1)', 7]),
    color: random.pick<unknown>(['red', '#12f', 'rgb(1,2,3)', 'red" onclick="alert(1)', 'url(//a.example)']),
    checked: random.pick<unknown>([true, false, 'true']),
    onclick: 'alert(1)',
    style: 'background:url(javascript:alert(1))',
  };
  const node: RichText = { type, attrs };
  if (type === 'text' || random.below(8) === 0) node.text = hostileText(random);
  if (random.below(2) === 0)
    node.marks = Array.from({ length: random.below(4) }, (): Mark => ({ type: random.pick(marks), attrs }));
  if (depth > 0 && (type !== 'text' || random.below(9) === 0)) {
    node.content = Array.from({ length: random.below(5) }, () => hostileTree(random, depth - 1));
  }
  return node;
}
