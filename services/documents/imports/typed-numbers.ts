/** Removes numbers that were typed before headings: the service numbers sections and steps itself. */

/** A number like `1.`, `2.3`, `A)` or `IV.`, before a title. */
const numbered = /^(?:(\d{1,3}(?:\.\d{1,3})*)([.):]?)|([A-Z]|[IVXLC]{1,7})([.):]))[ \u00a0\t]+(?=\S)/;

/**
 * Returns the titles without their numbers if all titles of a level have one; undefined if they do not. `before` is the
 * title of the heading before the first one.
 */
export function removeNumbers(titles: readonly string[], before = ''): string[] | undefined {
  const matches = titles.map((title) => numbered.exec(title));
  if (matches.length === 0 || matches.some((match) => match === null)) return undefined;
  // "2024 Results", "3 Tools" and "1.5 ton crane" have no mark of a number, so their numbers must count headings
  const unmarked = matches.flatMap((match) => (match?.[2] || match?.[4] ? [] : (match?.[1] ?? '')));
  const numbers = matches.map((match) => match?.[1] ?? '');
  const areWhole = unmarked.some((number) => !number.includes('.'));
  const isCounting = areWhole
    ? numbers.length > 1 && numbers[0] === '1'
    : areIncreasing(numbers, numbered.exec(before)?.[1]);
  if (unmarked.length > 0 && !isCounting) return undefined;
  return titles.map((title, at) => title.slice(matches[at]?.[0].length ?? 0));
}

/** Whether each number is after the one before it: 1.10 after 1.9. One alone must continue `before`: 1.1 after 1. */
function areIncreasing(numbers: readonly string[], before: string | undefined): boolean {
  if (numbers.length === 1) return before !== undefined && numbers[0]?.startsWith(`${before}.`) === true;
  return numbers.every((number, at) => at === 0 || compare(number, numbers[at - 1] ?? '') > 0);
}

function compare(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
