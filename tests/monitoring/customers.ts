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
    request,
    register,
    publishDocument,

    /** The token of a new organization's admin. */
    registerAdmin: async () => (await register()).access_token,

    /** Registers webhooks, each with a receiver of its own that answers so. */
    async createWebhooks(
      as: string,
      count: number,
      answering: Parameters<typeof webhookReceiver>[0],
    ): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const receiver = await webhookReceiver(answering);
        receivers.push(receiver);
        const body = { name: 'Hook', url: receiver.url, event_types: ['document.published'] };
        expect(await request('POST', '/webhooks', as, body)).toHaveProperty('id');
      }
    },

    /** Says events as their owner would; those that do not fit their schema are given up by whoever hears them. */
    async publishEvents(type: string, data: object, count = 1): Promise<void> {
      const topology = toTopology(contracts);
      const bus = amqpBus({ url: new Secret(amqpUrl), calmMs: 0, onError: () => undefined, topology });
      try {
        await until('the bus', async () => bus.up);
        const organization_id = newId();
        const one = () => ({ id: newId(), type, organization_id, actor_id: null });
        const occurred_at = new Date().toISOString();
        const published = Array.from({ length: count }, () => bus.publish({ ...one(), occurred_at, data }));
        await Promise.all(published);
      } finally {
        await bus.close();
      }
    },

    async close(): Promise<void> {
      for (const one of receivers) await one.close();
    },
  };

  /** Asks the API and gives its JSON; whatever fails is an answer too. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function request(method: string, path: string, as = '', body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' };
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers,
      body: JSON.stringify(body) ?? null,
    });
    return response.json().catch(() => undefined);
  }

  async function register(): Promise<{ access_token: string; member: object }> {
    const unique = randomBytes(4).toString('hex');
    const password = randomBytes(18).toString('base64url');
    const person = { name: 'Ada', email: `ada-${unique}@example.com`, password };
    return request('POST', '/auth/register', '', { organization_name: `Ada ${unique}`, ...person });
  }

  /** The id of a new document that is published. */
  async function publishDocument(as: string): Promise<string> {
    const { id } = await request('POST', '/documents', as, { title: 'SOP' });
    await request('POST', `/documents/${id}/publish`, as);
    return id;
  }
}
