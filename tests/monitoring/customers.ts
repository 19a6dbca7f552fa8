/** Who uses the system that is watched: people and their receivers, who may ask while it is broken. */
import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { amqpBus, toTopology } from '#libs/events';
import { until } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { type WebhookReceiver, webhookReceiver } from '../../services/webhook-delivery/testing/receiver.ts';

/** What customers do. */
export type Customers = ReturnType<typeof customers>;

/** Customers of the API there, and what they would have said on the bus. */
export function customers({ origin, amqpUrl }: { origin: string; amqpUrl: string }) {
  const receivers: WebhookReceiver[] = [];

  return {
    ask,
    registered,
    published,

    /** The token of a new organization's admin. */
    admin: async () => (await registered()).access_token,

    /** Registers webhooks, each with a receiver of its own that answers so. */
    async hooks(as: string, count: number, answering: Parameters<typeof webhookReceiver>[0]): Promise<void> {
      for (let made = 0; made < count; made += 1) {
        const there = await webhookReceiver(answering);
        receivers.push(there);
        const body = { name: 'Hook', url: there.url, event_types: ['document.published'] };
        expect(await ask('POST', '/webhooks', as, body)).toHaveProperty('id');
      }
    },

    /** Says events as their owner would; those that do not fit their schema are given up by whoever hears them. */
    async said(type: string, data: object, count = 1): Promise<void> {
      const topology = toTopology(contracts);
      const bus = amqpBus({
        url: new Secret(amqpUrl),
        retryQueueDelayMs: 0,
        onError: () => undefined,
        topology,
      });
      try {
        await until('the bus', async () => bus.up);
        const organization_id = newId();
        const one = () => ({ id: newId(), type, organization_id, actor_id: null });
        const occurred_at = new Date().toISOString();
        const saying = Array.from({ length: count }, () => bus.publish({ ...one(), occurred_at, data }));
        await Promise.all(saying);
      } finally {
        await bus.close();
      }
    },

    async leave(): Promise<void> {
      for (const one of receivers) await one.close();
    },
  };

  /** Asks the API and gives its JSON; whatever fails is an answer too. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function ask(method: string, path: string, as = '', body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers,
      body: JSON.stringify(body) ?? null,
    });
    return answer.json().catch(() => undefined);
  }

  async function registered(): Promise<{ access_token: string; member: object }> {
    const unique = randomBytes(4).toString('hex');
    const password = randomBytes(18).toString('base64url');
    const person = { name: 'Ada', email: `ada-${unique}@example.com`, password };
    return ask('POST', '/auth/register', '', { organization_name: `Ada ${unique}`, ...person });
  }

  /** The id of a new document that is published. */
  async function published(as: string): Promise<string> {
    const { id } = await ask('POST', '/documents', as, { title: 'SOP' });
    await ask('POST', `/documents/${id}/publish`, as);
    return id;
  }
}
