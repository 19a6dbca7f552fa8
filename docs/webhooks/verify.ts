/** Verifies that a delivery comes from the service. For Node and Deno, without packages. */
import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/** Verifies the Standard Webhooks headers: the signature, and the timestamp to prevent replay attacks. */
export function isGenuine(
  secret: string,
  headers: { id: string; timestamp: string; signature: string },
  rawBody: Uint8Array,
  now = Date.now() / 1000,
): boolean {
  const { id, timestamp, signature } = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > toleranceSeconds) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length === 0) return false;
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
  return signature.split(' ').some((one) => isSame(one, `v1,${mac}`));
}

/** Verifies `X-Service-Signature` only. This signature does not cover a timestamp. */
export function isSigned(secret: string, header: string, rawBody: Uint8Array): boolean {
  if (secret === '') return false;
  const expected = `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
  return header.split(',').some((one) => isSame(one.trim(), expected));
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
