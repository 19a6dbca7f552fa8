/** The receiver of all webhooks: keeps every POST with the time it came, and can hold its answers back. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import {
  type ReceivedRequest,
  webhookReceiver,
} from '../../../services/webhook-delivery/testing/receiver.ts';
import type { TestTenant } from './tenant.ts';

/** One POST. */
export interface Post extends ReceivedRequest {
  /** When it came, ms. */
  at: number;
}

/** A running receiver. */
export interface ChaosReceiver {
  /** Where an organization's webhook goes. */
  urlFor(slug: string): string;
  /** What came for an organization, the first first. */
  postsTo(slug: string): Post[];
  /** Answers nothing any more; resolves as soon as somebody waits for an answer. */
  hold(): Promise<void>;
  /** Answers again, also what was held back. */
  release(): void;
  close(): Promise<void>;
}

/** Starts the receiver. */
export async function chaosReceiver(): Promise<ChaosReceiver> {
  const posts: Post[] = [];
  let held: { come(): void; over: Promise<void>; end(): void } | undefined;
  const server = await webhookReceiver(async (received) => {
    posts.push({ ...received, at: Date.now() });
    held?.come();
    await held?.over;
    return 204;
  });
  const { origin } = new URL(server.url);
  return {
    urlFor: (slug) => `${origin}/${slug}`,
    postsTo: (slug) => posts.filter(({ path }) => path === `/${slug}`),
    hold() {
      const [coming, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { come: coming.resolve, over: ending.promise, end: ending.resolve };
      return coming.promise;
    },
    release() {
      held?.end();
      held = undefined;
    },
    close: server.close,
  };
}

/** Throws unless both signatures of a POST are those of the office's secret over the very bytes that came. */
export function verify({ headers, body }: Post, { webhook }: TestTenant): void {
  const ours = `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`;
  if (headers['x-service-signature'] !== ours) throw new Error(`X-Service-Signature of ${body} is wrong`);
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
}
