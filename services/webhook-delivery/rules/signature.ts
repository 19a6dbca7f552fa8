/** Signatures of deliveries: ours over the body, and the Standard Webhooks trio over id, time and body. */
import { createHmac } from 'node:crypto';
import type { Secret } from '#libs/contract';

const prefix = 'whsec_';

/** What is signed. */
export interface Signed {
  /** The event's id, the same at every attempt. */
  readonly id: string;
  /** Unix time of this attempt, whole seconds. */
  readonly timestamp: number;
  /** The very text that is sent, as UTF-8. */
  readonly body: string;
  /** Secrets in force, newest first: several while a rotation overlaps. */
  readonly secrets: readonly Secret[];
}

/** A new secret's text from 32 random bytes. */
export function parseSecret(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString('base64');
}

/**
 * The headers that prove where a delivery comes from. The two schemes use two keys: `X-Service-Signature` the whole
 * secret as text, the trio (standardwebhooks.com) the bytes that its part after `whsec_` stands for.
 */
export function signatureHeaders({ id, timestamp, body, secrets }: Signed): Record<string, string> {
  const ours = secrets.map((secret) => `sha256=${hmac(secret.reveal(), body).digest('hex')}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.reveal().slice(prefix.length), 'base64');
    return `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'X-Service-Signature': ours.join(','),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  };
}

function hmac(key: string | Uint8Array, text: string) {
  return createHmac('sha256', key).update(text, 'utf8');
}
