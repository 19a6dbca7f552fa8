/** Checks that a delivery is from the service. For Node and Deno, without any package. */
import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';

const toleranceSeconds = 300;

/** Checks the Standard Webhooks headers: signature and time, so that nobody can send an old delivery again. */
export function isGenuine(
  secret: string,
  headers: { id: string; timestamp: string; signature: string },
  rawBody: Uint8Array,
  now = Date.now() / 1000,
): boolean {
  const { id, timestamp, signature } = headers;
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > toleranceSeconds) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64');
  return signature.split(' ').some((one) => isSame(one, `v1,${mac}`));
}

/** Checks `X-Service-Signature` alone: it says nothing about the time. */
export function isSigned(secret: string, header: string, rawBody: Uint8Array): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(rawBody).digest('hex')}`;
  return header.split(',').some((one) => isSame(one.trim(), expected));
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
