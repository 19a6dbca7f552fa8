/** Signs webhook requests with `X-Service-Signature` and the Standard Webhooks headers. */
import { createHmac } from 'node:crypto';
import type { Secret } from '#libs/contract';

const prefix = 'whsec_';

/** What is signed, and with which secrets. */
export interface SignatureInput {
  /** Id of the event, the same for every attempt. */
  readonly id: string;
  /** Unix time of this attempt, whole seconds. */
  readonly timestamp: number;
  /** Exact text of the body, sent as UTF-8. */
  readonly body: string;
  /** Unexpired secrets, newest first. There are several during the overlap of a rotation. */
  readonly secrets: readonly Secret[];
}

/** Formats 32 random bytes as the text of a secret: `whsec_` and base64. */
export function formatSecret(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString('base64');
}

/**
 * Creates the headers that authenticate a delivery. The two schemes use different keys: `X-Service-Signature`
 * uses the whole secret as text. The Standard Webhooks headers (standardwebhooks.com) use the bytes that are
 * encoded after `whsec_`.
 */
export function createSignatureHeaders({
  id,
  timestamp,
  body,
  secrets,
}: SignatureInput): Record<string, string> {
  const service = secrets.map((secret) => `sha256=${hmac(secret.reveal(), body).digest('hex')}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(prefix.length), 'base64');
    return `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'X-Service-Signature': service.join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}

function hmac(key: string | Uint8Array, text: string) {
  return createHmac('sha256', key).update(text, 'utf8');
}
