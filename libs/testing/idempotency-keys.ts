/** Lets test clients send an `Idempotency-Key` with every authenticated POST. */
import { randomUUID } from 'node:crypto';

/** Enables the keys for the rest of a test file. */
export function sendIdempotencyKeys(): void {
  process.env.TEST_IDEMPOTENCY_KEYS = 'true';
}

/** The header to add to a request: a new key for an authenticated POST if keys are enabled, else empty. */
export function idempotencyHeader(method: string, token: string | undefined): Record<string, string> {
  const isKeyed = process.env.TEST_IDEMPOTENCY_KEYS === 'true' && method === 'POST' && token !== undefined;
  return isKeyed ? { 'idempotency-key': randomUUID() } : {};
}
