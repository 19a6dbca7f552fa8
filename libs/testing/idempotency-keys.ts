/** A switch for test clients: every authenticated POST carries a new Idempotency-Key. */
import { newId } from '#libs/contract';

/** Switches keys on for the rest of a test file. */
export function sendIdempotencyKeys(): void {
  process.env.TEST_IDEMPOTENCY_KEYS = 'true';
}

/** The header that a test client adds to a request: a new key for an authenticated POST, where the switch is on. */
export function idempotencyHeader(method: string, token: string | undefined): Record<string, string> {
  const isKeyed = process.env.TEST_IDEMPOTENCY_KEYS === 'true' && method === 'POST' && token !== undefined;
  return isKeyed ? { 'idempotency-key': newId() } : {};
}
