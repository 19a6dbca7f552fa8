/** Finds the direction of text by its letters (UAX 9, the Unicode bidirectional algorithm). */
import type { RichText } from './tree.ts';

/** A direction of text: from left to right, or from right to left. */
export type Direction = 'ltr' | 'rtl';

/** Text of one direction. */
export type DirectedText = { text: string; direction: Direction };

/** A leaf of a textblock whose text has one direction. */
export type DirectedLeaf = { leaf: RichText; direction: Direction };

/** The blocks of right-to-left scripts (table 4 of UAX 9). */
const rtlBlocks =
  '\\u{590}-\\u{8FF}\\u{FB1D}-\\u{FDFF}\\u{FE70}-\\u{FEFF}\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}';
const rtlLetter = `[[\\p{L}&&[${rtlBlocks}]]\\u{61C}\\u{200F}]`;
const ltrLetter = `[[\\p{L}--[${rtlBlocks}]]\\u{200E}]`;
/** Arabic-Indic digits. They belong to the Arabic text around them. */
const arabicDigit = '[\\u{660}-\\u{669}]';
const digit = '[0-9\\u{6F0}-\\u{6F9}]';
/** What belongs to the number beside it, such as a percent sign. */
const numberSign = '[\\p{Sc}#%°±‰]';

const hasDigit = new RegExp(digit, 'v');
const firstLetter = new RegExp(`(?<rtl>${rtlLetter})|${ltrLetter}`, 'v');
const hasRtl = new RegExp(`${rtlLetter}|${arabicDigit}`, 'v');
/** Words and numbers, and signs without a number, which are to be skipped. */
const wordOrNumber = new RegExp(
  `(?<rtl>(?:${rtlLetter}\\p{M}*|${arabicDigit})+)|(?<ltr>(?:${ltrLetter}\\p{M}*)+)|(?:${numberSign}|${digit})+`,
  'gv',
);

/** Returns the direction of the first letter (rule P2); undefined for text without letters. */
export function getDirection(text: string): Direction | undefined {
  const letter = firstLetter.exec(text);
  return letter ? (letter.groups?.rtl ? 'rtl' : 'ltr') : undefined;
}

/** Returns the direction of the first of these texts that has letters; left to right without one. */
export function getFirstDirection(texts: Iterable<string>): Direction {
  for (const text of texts) {
    const direction = getDirection(text);
    if (direction) return direction;
  }
  return 'ltr';
}

/** Returns the direction of the first letter in a node. Code does not count: it reads from left to right anyway. */
export function findDirection(node: RichText): Direction | undefined {
  if (isCode(node)) return undefined;
  if (node.text !== undefined) return getDirection(node.text);
  for (const child of node.content ?? []) {
    const direction = findDirection(child);
    if (direction) return direction;
  }
  return undefined;
}

/**
 * Splits text into pieces of one direction, in reading order. A number has the direction of the word before it (W7).
 * What is between two words of one direction has it, too; all else has that of the paragraph, `base` (N1, N2).
 */
export function splitByDirection(text: string, base: Direction): DirectedText[] {
  if (text === '' || (base === 'ltr' && !hasRtl.test(text))) return [{ text, direction: base }];
  const pieces: DirectedText[] = [];
  const add = (from: number, to: number, direction: Direction) => {
    const last = pieces.at(-1);
    const more = text.slice(from, to);
    if (last?.direction === direction) last.text += more;
    else if (more !== '') pieces.push({ text: more, direction });
  };
  let end = 0;
  let before = base;
  for (const { index, 0: word, groups } of text.matchAll(wordOrNumber)) {
    if (!groups?.rtl && !groups?.ltr && !hasDigit.test(word)) continue;
    const direction = groups?.rtl ? 'rtl' : groups?.ltr ? 'ltr' : before;
    add(end, index, direction === before ? direction : base);
    end = index + word.length;
    add(index, end, direction);
    before = direction;
  }
  add(end, text.length, base);
  return pieces;
}

/** Splits the leaves of a textblock, so that each has one direction. Code is from left to right and is not split. */
export function splitLeaves(leaves: readonly RichText[], base: Direction): DirectedLeaf[] {
  const texts = leaves.map((leaf) => (isCode(leaf) ? noLetter : (leaf.text ?? '')));
  const pieces = splitByDirection(texts.join(''), base);
  const split: DirectedLeaf[] = [];
  let piece = 0;
  let left = pieces[0]?.text.length ?? 0;
  for (const [at, leaf] of leaves.entries()) {
    const text = texts[at] ?? '';
    if (isCode(leaf) || text === '') split.push({ leaf, direction: isCode(leaf) ? 'ltr' : base });
    for (let from = 0; from < text.length; ) {
      if (left === 0) {
        piece += 1;
        left = pieces[piece]?.text.length ?? text.length;
      }
      const length = Math.min(left, text.length - from);
      const whole = length === text.length ? leaf : { ...leaf, text: text.slice(from, from + length) };
      if (!isCode(leaf)) split.push({ leaf: whole, direction: pieces[piece]?.direction ?? base });
      from += length;
      left -= length;
    }
  }
  return split;
}

/** Stands for code, which separates words as a picture does. */
const noLetter = '\uFFFC';

function isCode({ type, marks = [] }: RichText): boolean {
  return type === 'codeBlock' || marks.some((mark) => mark.type === 'code');
}
