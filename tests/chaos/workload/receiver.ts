/** The receiver of all webhooks. It records every POST with its time, and can delay its responses. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import {
  type ReceivedRequest,
  webhookReceiver,
} from '../../../services/webhook-delivery/testing/receiver.ts';
import type { TestTenant } from './tenant.ts';

/** A received POST. */
export interface Post extends ReceivedRequest {
  /** When it was received, Unix ms. */
  at: number;
}

/** A running receiver. */
export interface ChaosReceiver {
  /** The webhook URL of an organization. */
  urlFor(slug: string): string;
  /** The POSTs for an organization, oldest first. */
  postsTo(slug: string): Post[];
  /** Delays all responses. Resolves when a request waits for its response. */
  hold(): Promise<void>;
  /** Sends the delayed responses and stops delaying. */
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

/** Throws if one of the two signatures of a POST is not valid for its bytes and the organization's secret. */
export function verify({ headers, body }: Post, { webhook }: TestTenant): void {
  const ours = `sha256=${createHmac('sha256', webhook.secret).update(body).digest('hex')}`;
  if (headers['x-service-signature'] !== ours) throw new Error(`X-Service-Signature of ${body} is wrong`);
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
}
