/** Estimates how much space the numbers of a numbered list need beside its items. */

/** Widths of characters in em. The two widths below hold for digits and for other letters. */
const widths = new Map([...[...'iIl'].map((one) => [one, 0.35] as const), ['m', 0.95], ['M', 0.95]]);
const [digitWidth, letterWidth] = [0.58, 0.66];

/** Every list has space for numbers of this width. The style sheet has a class for each whole em up to the maximum. */
const usualWidth = 1.2;
const maxWidth = 6;

/** The numbers of a list. `type` is the attribute of `ol` in HTML. */
export interface NumberedList {
  start: number;
  count: number;
  type: string | undefined;
}

/** Returns the class of a list whose numbers need more space than those of other lists, such as 100 and xviii. */
export function getNumbersClass(list: NumberedList): string | undefined {
  const width = listWidestNumbers(list).reduce((most, number) => Math.max(most, measure(number)), 0);
  return width > usualWidth ? `numbers-${Math.min(maxWidth, Math.ceil(width))}` : undefined;
}

/** Candidates for the widest number: the last one of digits and letters, every one of Roman numbers. */
function listWidestNumbers({ start, count, type }: NumberedList): string[] {
  const last = start + Math.max(count, 1) - 1;
  if (type?.toLowerCase() === 'i') {
    const numbers = Array.from({ length: last - start + 1 }, (_, at) => toRoman(start + at));
    return type === 'I' ? numbers.map((number) => number.toUpperCase()) : numbers;
  }
  return [type === undefined || type === '1' ? `${last}` : 'n'.repeat(countLetters(last))];
}

function measure(number: string): number {
  const fallback = /^\d/.test(number) ? digitWidth : letterWidth;
  return [...number].reduce((sum, one) => sum + (widths.get(one) ?? fallback), 0);
}

/** How many letters a number has: 26 is z, 27 is aa. */
function countLetters(number: number): number {
  return number <= 26 ? 1 : 1 + countLetters(Math.floor((number - 1) / 26));
}

const romanNumerals = Object.entries({
  ...{ m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90 },
  ...{ l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 },
});

/** Browsers write 0 and numbers from 4000 with digits. */
function toRoman(number: number): string {
  if (number < 1 || number > 3999) return `${number}`;
  let rest = number;
  return romanNumerals.reduce((text, [letters, value]) => {
    const times = Math.floor(rest / value);
    rest -= times * value;
    return text + letters.repeat(times);
  }, '');
}
