/** Host names (RFC 1123), also with underscores, which DNS allows; ports. */

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';

/** The source of a regular expression for a lower-case host name without a final dot. It does not limit the length. */
export const hostNamePattern = `${label}(?:\\.${label})*`;

/** The source of a regular expression for an optional port with its colon. */
export const portPattern = '(?::(?:\\d{1,4}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5]))?';

const hostName = new RegExp(`^${hostNamePattern}$`);

/** Whether a text is a host name in lower case, without a final dot: labels of 1 to 63 characters, 253 in total. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && hostName.test(text);
}
