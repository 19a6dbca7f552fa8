/** The deprecation of an operation: the notice in the API reference, and the headers of its responses. */

/** The dates of a deprecated operation, and its replacement. */
export interface Deprecation {
  /** The day since which clients should not use the operation: `2026-11-24` (UTC). */
  readonly since: string;
  /** The first day on which the operation may be gone. Without it, no removal is planned. */
  readonly sunset?: string;
  /** What clients should use instead, as a sentence. */
  readonly instead: string;
}

/** The shortest time from a deprecation to the removal, in days (docs/versioning.md). */
export const minNoticeDays = 180;

const msPerDay = 86_400_000;

/** Checks a deprecation. Throws if a date is invalid, or if the sunset leaves clients less than `minNoticeDays`. */
export function checkDeprecation({ since, sunset }: Deprecation): void {
  const noticeMs = sunset === undefined ? Number.POSITIVE_INFINITY : parseDay(sunset) - parseDay(since);
  if (noticeMs < minNoticeDays * msPerDay)
    throw new Error(`The sunset ${sunset} is less than ${minNoticeDays} days after ${since}`);
  parseDay(since);
}

/** Returns the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). An operation in use has none. */
export function deprecationHeaders(operation: { deprecated?: Deprecation }): Record<string, string> {
  if (!operation.deprecated) return {};
  const { since, sunset } = operation.deprecated;
  return {
    Deprecation: `@${parseDay(since) / 1_000}`,
    ...(sunset !== undefined && { Sunset: new Date(parseDay(sunset)).toUTCString() }),
  };
}

/** Returns the notice for the description of an operation, as Markdown. */
export function describeDeprecation({ since, sunset, instead }: Deprecation): string {
  const removal = sunset === undefined ? '' : ` It may be removed on ${sunset}.`;
  return `**Deprecated** since ${since}.${removal} ${instead}`;
}

/** Returns the start of a day in UTC, in ms. */
function parseDay(day: string): number {
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day)
    throw new Error(`Not a day: ${day}`);
  return ms;
}
