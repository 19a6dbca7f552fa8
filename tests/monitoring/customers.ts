/** Simulates customers of the monitored system: API requests, webhook receivers and events. They tolerate failures. */
import { newId, Secret } from '#libs/contract';
import { amqpBus, toTopology } from '#libs/events';
import {
  apiClient,
  createWebhook,
  register,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { publishUntilAccepted } from '../../libs/testing/amqp-fixture.ts';
import { contracts } from '../../services/contracts.ts';

/** Simulated customers. */
export type Customers = ReturnType<typeof customers>;

/** Creates customers for the API at an origin and for events on a RabbitMQ. */
export function customers({ origin, amqpUrl }: { origin: string; amqpUrl: string }) {
  const api = apiClient(origin);
  const receivers: WebhookReceiver[] = [];

  return {
    request,
    register: () => register(api),
    publishDocument,

    /** Asks everybody to acknowledge a new locked document. Returns its id and its content hash. */
    async requestAcknowledgement(as: string): Promise<{ document_id: string; content_hash: string }> {
      await request('PATCH', '/organization', as, { settings: { lock_published: true } });
      const document_id = await publishDocument(as);
      const { content_hash } = await request('GET', `/documents/${document_id}`, as);
      await request('POST', '/acknowledgement-requests', as, { document_id, audience: { everyone: true } });
      return { document_id, content_hash };
    },

    /** Creates webhooks, each with its own receiver that responds as given. */
    async createWebhooks(
      as: string,
      count: number,
      answering: Parameters<typeof webhookReceiver>[0],
    ): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const receiver = await webhookReceiver(answering);
        receivers.push(receiver);
        await createWebhook(api, as, receiver.url);
      }
    },

    /**
     * Publishes events as their owner would, `ageMs` after their change. Consumers dead-letter events that do not match
     * their schema.
     */
    async publishEvents(type: string, data: object, { count = 1, ageMs = 0 } = {}): Promise<void> {
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
        const occurred_at = new Date(Date.now() - ageMs).toISOString();
        const published = Array.from({ length: count }, () =>
          publishUntilAccepted(bus, { ...one(), occurred_at, data }),
        );
        await Promise.all(published);
      } finally {
        await bus.close();
      }
    },

    async close(): Promise<void> {
      for (const one of receivers) await one.close();
    },
  };

  /** Sends a request and returns the body of its response, also of an error. */
  async function request(method: string, path: string, as: string, body?: unknown) {
    return (await api.request(method, path, { as, body })).body;
  }

  /** Publishes a new document. Returns its id. */
  async function publishDocument(as: string): Promise<string> {
    const { id } = await request('POST', '/documents', as, { title: 'SOP' });
    await request('POST', `/documents/${id}/publish`, as);
    return id;
  }
}
