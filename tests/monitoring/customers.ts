/** Simulates customers of the monitored system: API requests, webhook receivers and events. They tolerate failures. */
import { randomBytes } from 'node:crypto';
import { expect } from '@jest/globals';
import { newId, Secret } from '#libs/contract';
import { amqpBus, toTopology } from '#libs/events';
import { until } from '#libs/testing';
import { contracts } from '../../services/contracts.ts';
import { type WebhookReceiver, webhookReceiver } from '../../services/webhook-delivery/testing/receiver.ts';

/** Simulated customers. */
export type Customers = ReturnType<typeof customers>;

/** Creates customers for the API at an origin and for events on a RabbitMQ. */
export function customers({ origin, amqpUrl }: { origin: string; amqpUrl: string }) {
  const receivers: WebhookReceiver[] = [];

  return {
    request,
    register,
    publishDocument,

    /** Registers an organization. Returns its admin's access token. */
    registerAdmin: async () => (await register()).access_token,

    /** Creates webhooks, each with its own receiver that responds as given. */
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

    /** Publishes events as their owner would. Consumers dead-letter events that do not match their schema. */
    async publishEvents(type: string, data: object, count = 1): Promise<void> {
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

  /** Sends a request and returns the JSON of its response, also of an error; undefined if it has none. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
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

  /** Publishes a new document. Returns its id. */
  async function publishDocument(as: string): Promise<string> {
    const { id } = await request('POST', '/documents', as, { title: 'SOP' });
    await request('POST', `/documents/${id}/publish`, as);
    return id;
  }
}
