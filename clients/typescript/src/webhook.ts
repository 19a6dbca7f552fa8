/** Verifies that a webhook request comes from the service. */
import type { webhooks } from './generated/contract.ts';

/** The body of a webhook request. */
export type WebhookPayload =
  | { [Name in keyof webhooks]: PayloadOf<webhooks[Name]> }[keyof webhooks]
  | WebhookTestPayload;

type PayloadOf<Item> = Item extends {
  post: { requestBody?: { content: { 'application/json': infer Body } } };
}
  ? Body
  : never;

/** The body of a test request. */
export interface WebhookTestPayload {
  id: string;
  event_type: 'webhook.test';
  timestamp: string;
  organization_id: string;
  data: { message: string };
}

/** Why a request was rejected. */
export type WebhookRejection = 'missing_header' | 'old_timestamp' | 'wrong_signature' | 'invalid_body';

/** The request does not come from the service, or it is a repetition of an old one. Respond with 401. */
export class WebhookVerificationError extends Error {
  readonly reason: WebhookRejection;
  constructor(reason: WebhookRejection, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.reason = reason;
  }
}

/** A request to verify. */
export interface WebhookRequest {
  /** The secret of the webhook, or several while you change it. */
  secret: string | readonly string[];
  /** The headers of the request: those of `Request`, or an object as in Node. The case of names is ignored. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body, before any parser has changed it. */
  body: string | Uint8Array | ArrayBuffer;
  /**
   * The header to verify. Default: `webhook-signature`, which also covers the time and so prevents that somebody sends
   * an old request again. Use `x-service-signature` only if a proxy removes the other headers.
   */
  header?: 'webhook-signature' | 'x-service-signature';
  /** How far the time of the request may be from now, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** Unix time in ms. Default: the current time. */
  now?: number;
}

/** Verifies a request and returns its body. Rejects with a `WebhookVerificationError`. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookPayload> {
  const { secret, body, header = 'webhook-signature' } = request;
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  if (secrets.length === 0 || !secrets.every((one) => typeof one === 'string'))
    throw new TypeError('`secret` is missing, or is not text. It begins with whsec_.');
  // also for the other header: everyone can sign with an empty secret
  const keys = secrets.map(toStandardKey);
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer))
    throw new TypeError('`body` is not the raw body. Read the bytes of the request before a parser does.');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signature = requireHeader(request, header);
  const isGenuine =
    header === 'webhook-signature'
      ? await verifyStandard(signature, bytes, keys, request)
      : await verifyService(signature, bytes, secrets);
  if (!isGenuine)
    throw new WebhookVerificationError(
      'wrong_signature',
      `No signature in ${header} matches. Check the secret, and that the body is the raw body.`,
    );
  try {
    // the signature proves that the service has written it
    return JSON.parse(new TextDecoder().decode(bytes)) as WebhookPayload;
  } catch {
    throw new WebhookVerificationError('invalid_body', 'The body is not JSON.');
  }
}

/** Standard Webhooks: `v1,<base64>` entries, separated by spaces, over `id.timestamp.body`. */
async function verifyStandard(
  signature: string,
  body: Uint8Array,
  keys: readonly Uint8Array[],
  request: WebhookRequest,
): Promise<boolean> {
  const id = requireHeader(request, 'webhook-id');
  const timestamp = requireHeader(request, 'webhook-timestamp');
  const { toleranceSeconds = 300, now = Date.now() } = request;
  // also rejects if the tolerance is not a number
  const isRecent = Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds;
  if (!/^\d{1,12}$/.test(timestamp) || !isRecent)
    throw new WebhookVerificationError(
      'old_timestamp',
      `The time of the request is more than ${toleranceSeconds} seconds from now.`,
    );
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array([...head, ...body]);
  const entries = signature.split(' ').flatMap((entry) => {
    const mac = entry.startsWith('v1,') ? decodeBase64(entry.slice(3)) : undefined;
    return mac ? [mac] : [];
  });
  return anyMatches(entries, keys, signed);
}

/** `sha256=<hex>` entries, separated by commas, over the body. */
function verifyService(signature: string, body: Uint8Array, secrets: readonly string[]): Promise<boolean> {
  const entries = signature.split(',').flatMap((entry) => {
    const hex = /^sha256=([0-9a-f]{64})$/.exec(entry.trim())?.[1];
    return hex ? [new Uint8Array((hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)))] : [];
  });
  return anyMatches(
    entries,
    secrets.map((secret) => new TextEncoder().encode(secret)),
    body,
  );
}

/** `crypto.subtle.verify` compares in constant time. */
async function anyMatches(
  macs: readonly Uint8Array[],
  keys: readonly Uint8Array[],
  signed: Uint8Array,
): Promise<boolean> {
  for (const bytes of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['verify']);
    for (const mac of macs)
      if (await crypto.subtle.verify('HMAC', key, new Uint8Array(mac), new Uint8Array(signed))) return true;
  }
  return false;
}

function toStandardKey(secret: string): Uint8Array {
  const key = decodeBase64(secret.replace(/^whsec_/, ''));
  if (!key || key.length === 0)
    throw new TypeError('The secret of a webhook begins with whsec_. Check `secret`.');
  return key;
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function requireHeader({ headers }: WebhookRequest, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  const text = typeof value === 'string' ? value : value?.join(',');
  if (text === undefined || text === '')
    throw new WebhookVerificationError('missing_header', `The request has no header ${name}.`);
  return text;
}
