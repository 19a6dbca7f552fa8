/** Formats dates for readers: in UTC, with the month as a word, so that no region swaps day and month. */

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

/** Formats the day, e.g. `21 November 2026`. */
export function formatDay(at: Date): string {
  return `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** Formats day and minute, e.g. `21 November 2026, 09:30 UTC`. */
export function formatMinute(at: Date): string {
  return `${formatDay(at)}, ${at.toISOString().slice(11, 16)} UTC`;
}
