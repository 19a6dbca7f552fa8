/** Removes numbers that were typed before headings: the service numbers sections and steps itself. */

/** A number like `1.`, `2.3`, `A)` or `IV.`, before a title. */
const numbered = /^(?:(\d{1,3}(?:\.\d{1,3})*)([.):]?)|([A-Z]|[IVXLC]{1,7})([.):]))[ \u00a0\t]+(?=\S)/;

/** Returns the titles without their numbers if all titles of a level have one; undefined if they do not. */
export function removeNumbers(titles: readonly string[]): string[] | undefined {
  const matches = titles.map((title) => numbered.exec(title));
  if (matches.length === 0 || matches.some((match) => match === null)) return undefined;
  // "2024 Results" has no mark of a number; "3 Tools" has none either, so a list of them must begin with 1
  const isMarked = matches.every((match) => match?.[2] || match?.[4] || match?.[1]?.includes('.'));
  if (!isMarked && (matches.length < 2 || matches[0]?.[1] !== '1')) return undefined;
  return titles.map((title, at) => title.slice(matches[at]?.[0].length ?? 0));
}
