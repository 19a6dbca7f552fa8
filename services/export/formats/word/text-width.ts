/** Measures text in Arial, the font of the built-in template, and counts the lines of a paragraph. */

/** Widths of the characters from space to tilde, in thousandths of the font size (Arial and Arial Bold). */
const REGULAR = (
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 ' +
  '1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 ' +
  '333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584'
)
  .split(' ')
  .map(Number);
const BOLD = (
  '278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 584 584 584 611 ' +
  '975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 ' +
  '333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584'
)
  .split(' ')
  .map(Number);
const OTHERS = new Map([
  ...Object.entries({ '–': 556, '—': 1_000, '‘': 250, '’': 250, '“': 400, '”': 400, '•': 350, '…': 1_000 }),
  ...Object.entries({ '€': 556, '°': 400, '×': 584, '±': 549, '²': 333, '³': 333, ß: 611, '\u00A0': 278 }),
]);

/** Returns the width of a character in thousandths of the font size. */
function getWidth(code: number, isBold: boolean): number {
  if (code >= 32 && code < 127) return (isBold ? BOLD : REGULAR)[code - 32] ?? 556;
  const character = String.fromCodePoint(code);
  const known = OTHERS.get(character);
  if (known !== undefined) return known;
  // the second half of a character, whose first half has its width
  if (code >= 0xdc00 && code < 0xe000) return 0;
  // East Asian characters and emoji are square
  if (code >= 0x2e80) return 1_000;
  const base = character.normalize('NFD').codePointAt(0) ?? code;
  return base !== code && base < 127 ? getWidth(base, isBold) : 600;
}

/** Returns the width of text in thousandths of the font size. */
export function measureText(text: string, isBold = false): number {
  let width = 0;
  for (let at = 0; at < text.length; at += 1) width += getWidth(text.charCodeAt(at), isBold);
  return width;
}

/** Text with one width of characters; `width` replaces the widths of Arial, for a font with equal ones. */
export type TextPiece = { text: string; isBold?: boolean; width?: number };

/** Counts the lines of a paragraph. `width` is that of a line, in thousandths of the font size. */
export function countLines(pieces: Iterable<TextPiece>, width: number): number {
  let lines = 1;
  let line = 0;
  let gap = 0;
  let word = 0;
  const endWord = () => {
    if (line > 0 && line + gap + word > width) {
      lines += 1;
      line = word;
    } else line += gap + word;
    // a word that is wider than a line is broken
    if (line > width) {
      lines += Math.floor(line / width);
      line %= width;
    }
    gap = 0;
    word = 0;
  };
  for (const { text, isBold = false, width: equal } of pieces) {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === LINE_FEED) {
        endWord();
        lines += 1;
        line = 0;
        continue;
      }
      const advance = equal ?? getWidth(code, isBold);
      if (code === SPACE) {
        if (word > 0) endWord();
        gap += advance;
        continue;
      }
      word += advance;
      if (code === HYPHEN) endWord();
    }
  }
  endWord();
  return lines;
}

const LINE_FEED = 10;
const SPACE = 32;
const HYPHEN = 45;
