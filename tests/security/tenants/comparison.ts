/** Compares two responses byte by byte, apart from what differs between any two requests. */
import type { TestResponse } from '#libs/testing';

/** A response as text, without its request id and date, and with `<id>` in place of the ids that were sent. */
export function toComparable({ status, headers, bytes }: TestResponse, ...sent: readonly string[]): string {
  const requestId = headers.get('x-request-id') ?? '';
  const { 'x-request-id': _, date: __, ...others } = Object.fromEntries(headers);
  const text = [
    status,
    ...Object.entries(others).map(([name, value]) => `${name}: ${value}`),
    '',
    new TextDecoder().decode(bytes),
  ].join('\n');
  return [...sent, requestId].reduce((masked, one) => (one ? masked.replaceAll(one, '<id>') : masked), text);
}
