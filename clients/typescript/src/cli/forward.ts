/** Forwards events of a listener to a receiver, as webhook requests. */
import { createHmac } from 'node:crypto';
import type { ListenedEvent } from '../generated/contract.ts';

/** How long a receiver may take, as for deliveries, ms. */
const timeoutMs = 10_000;

/** What the receiver did. */
export type ForwardResult = { status: number; duration_ms: number } | { error: string };

/** Sends an event to a receiver. Rejects only if the signal is aborted. */
export async function forward(
  target: URL,
  { headers, body }: Pick<ListenedEvent, 'headers' | 'body'>,
  signal: AbortSignal,
): Promise<ForwardResult> {
  const start = performance.now();
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const response = await fetch(target, {
      ...{ method: 'POST', headers, body },
      ...{ redirect: 'manual', signal: limit },
    });
    await response.body?.cancel();
    return { status: response.status, duration_ms: Math.round(performance.now() - start) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { error: describeFailure(error) };
  }
}

/** Returns the event with the signatures of another secret, which begins with `whsec_`. */
export function signWith(secret: string, event: ListenedEvent): ListenedEvent {
  const { headers, body } = event;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return {
    ...event,
    headers: {
      ...headers,
      'webhook-signature': `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
      'X-Service-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  };
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no response within ${timeoutMs / 1_000} s`;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}
