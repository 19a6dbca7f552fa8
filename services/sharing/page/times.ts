/** Times as readers see them: in UTC and in words that no region reads in another order. */

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** The day, e.g. `21 November 2026`. */
export function dayOf(at: Date): string {
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** The minute, e.g. `21 November 2026, 09:30 UTC`. */
export function momentOf(at: Date): string {
  return `${dayOf(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}
