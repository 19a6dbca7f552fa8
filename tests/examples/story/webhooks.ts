/** The part of the story about webhooks: events reach a receiver, one fails and is sent again. */
import { must, until, type WebhookReceiver } from '#libs/testing';
import type { Recorder } from '../recorder.ts';

const eventTypes = [
  ...['document.published', 'document.revised', 'document.updated', 'document.archived'],
  ...['document.assigned', 'document.review_due', 'member.invited', 'member.joined'],
  ...['approval.requested', 'approval.approved', 'approval.rejected', 'approval.withdrawn'],
  ...['acknowledgement.requested', 'acknowledgement.made'],
  ...['acknowledgement.completed', 'acknowledgement.overdue'],
];

/** The webhook of the story. */
export interface StoryWebhook {
  params: { config_id: string };
  /** The payload of the first event of each type. */
  payloads(): Record<string, unknown>;
}

/** The admin creates a webhook for all events. Its receiver rejects `member.joined`. */
export async function createWebhook(
  { example, aliases }: Recorder,
  as: string,
  receiver: WebhookReceiver,
): Promise<StoryWebhook> {
  aliases.add(receiver.url, 'https://hooks.acme-foods.example/documents');
  receiver.respondWith(({ headers }) => (headers['x-service-event'] === 'member.joined' ? 500 : 204));
  const { id } = await example('createWebhook', {
    as,
    body: { name: 'Intranet', url: receiver.url, event_types: eventTypes.slice(0, 4) },
  });
  const params = { config_id: String(id) };
  await example('updateWebhook', { as, params, body: { event_types: eventTypes } });
  await example('listWebhooks', { as });
  await example('getWebhook', { as, params });
  await example('testWebhook', { as, params });
  const payloads = () => {
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    const originals = bodies.filter(({ data }) => !data.refired);
    const latestFirst = originals.toSorted((one, other) => other.timestamp.localeCompare(one.timestamp));
    return Object.fromEntries(latestFirst.map((body) => [body.event_type, body]));
  };
  return { params, payloads };
}

/** A listener gets the next event, without a webhook. */
export async function listen({ app, example }: Recorder, as: string, doc_id: string): Promise<void> {
  const { id } = await example('createWebhookListener', { as });
  const params = { listener_id: String(id) };
  const body = { event_type: 'document.published' };
  await must(app, 'POST', `/documents/${doc_id}/trigger-webhooks`, { as, body });
  const query = { wait_seconds: 30 };
  const [event] = await example('receiveWebhookEvents', { as, params, query });
  await example('confirmWebhookEvents', { as, params, body: { event_ids: [event.event_id] } });
  await example('deleteWebhookListener', { as, params });
}

/** Waits until the receiver has got every event, then repeats deliveries and deletes the webhook. */
export async function inspectWebhook({ app, example }: Recorder, as: string, webhook: StoryWebhook) {
  const { params, payloads } = webhook;
  for (const type of eventTypes) await until(`the event ${type}`, async () => type in payloads());
  const findEntry = (type: string, status: string) =>
    until(`the ${status} delivery of ${type}`, async () => {
      const query = new URLSearchParams({ event_type: type, status });
      const [entry] = await must(app, 'GET', `/webhooks/events?${query}`, { as });
      return entry;
    });
  await findEntry('document.published', 'delivered');
  await findEntry('member.joined', 'failed');
  const isDone = async () => (await must(app, 'GET', '/webhooks/events?status=pending', { as })).length === 0;
  await until('the end of the deliveries', isDone);
  const query = { event_type: 'document.published', status: 'delivered', limit: 20 };
  const [entry] = await example('listWebhookEvents', { as, query });
  await example('getWebhookEvent', { as, params: { entry_id: entry.id } });
  await example('redeliverWebhookEvent', { as, params: { entry_id: entry.id } });
  const since = '2026-01-01T00:00:00Z';
  await example('redeliverFailedEvents', { as, body: { ...params, since } });
  await example('rotateWebhookSecret', { as, params, body: { overlap_seconds: 86_400 } });
  await example('deleteWebhook', { as, params });
}
