/** The commands on webhooks and their deliveries. */
import type { Webhook, WebhookEvent } from '../generated/contract.ts';
import type { OperationInput } from '../operation-types.ts';
import { command } from './command.ts';
import { formatTable } from './context.ts';
import { exitCodes, UsageError } from './exit-codes.ts';

const id = { name: 'id', description: 'Id of the webhook' } as const;
const statuses = ['pending', 'delivered', 'failed'] as const;

const list = command({
  name: 'webhooks list',
  summary: 'List the webhooks',
  async run(context) {
    const webhooks: Webhook[] = [];
    for await (const webhook of (await context.client()).iterate.listWebhooks()) webhooks.push(webhook);
    context.show(webhooks, () =>
      formatTable(
        ['ID', 'ACTIVE', 'NAME', 'URL', 'EVENTS'],
        webhooks.map((one) => [
          one.id,
          one.is_active ? 'yes' : 'no',
          one.name,
          one.url,
          one.event_types.join(', '),
        ]),
      ),
    );
    return undefined;
  },
});

const test = command({
  name: 'webhooks test',
  summary: 'Send a test event to a webhook and wait for the response',
  details: 'Exit code 1 if the receiver does not respond with 2xx within 10 seconds.',
  arguments: [id],
  async run(context, { arguments: { id: config_id } }) {
    context.progress('Waiting for the response …');
    const result = await (await context.client()).testWebhook({ config_id });
    const { status, http_status } = result;
    context.show(result, () =>
      http_status === null
        ? `${status}: no response`
        : `${status}: the receiver responded with ${http_status}`,
    );
    return status === 'delivered' ? exitCodes.ok : exitCodes.failed;
  },
});

const log = command({
  name: 'webhooks log',
  summary: 'List the deliveries, newest first',
  options: {
    webhook: { type: 'string', value: 'ID', description: 'Only deliveries of this webhook' },
    status: { type: 'string', choices: statuses, description: 'Only deliveries with this status' },
    event: {
      type: 'string',
      value: 'TYPE',
      description: 'Only events of this type, such as document.published',
    },
    limit: { type: 'integer', description: 'How many at most. Default: 20' },
  },
  async run(context, { options: { webhook, status, event, limit = 20 } }) {
    if (limit < 1) throw new UsageError('--limit must be 1 or more.');
    const input = {
      config_id: webhook,
      status,
      // the service checks the type, so that later versions can have more
      event_type: event as OperationInput<'listWebhookEvents'>['event_type'],
      limit: Math.min(limit, 100),
    };
    const entries: WebhookEvent[] = [];
    for await (const entry of (await context.client()).iterate.listWebhookEvents(input)) {
      entries.push(entry);
      if (entries.length >= limit) break;
    }
    context.show(entries, () =>
      formatTable(
        ['ID', 'TIME', 'EVENT', 'STATUS', 'ATTEMPTS', 'RESULT'],
        entries.map((one) => [
          one.id,
          one.created_at.slice(0, 19),
          one.event_type,
          one.status,
          one.attempts,
          one.error ?? one.http_status ?? '',
        ]),
      ),
    );
    return undefined;
  },
});

const redeliver = command({
  name: 'webhooks redeliver',
  summary: 'Send one delivery again, or all failed ones of a webhook',
  details: `One delivery: pds webhooks redeliver ENTRY
All failed ones: pds webhooks redeliver --webhook ID --since 2026-11-21T06:00:00Z`,
  arguments: [{ name: 'entry', description: 'Id of a delivery in the log', isOptional: true }],
  options: {
    webhook: { type: 'string', value: 'ID', description: 'Redeliver the failed deliveries of this webhook' },
    since: { type: 'string', value: 'TIME', description: 'Only deliveries since this time (ISO 8601)' },
  },
  async run(context, { arguments: { entry }, options: { webhook, since } }) {
    const client = await context.client();
    if (entry !== undefined) {
      if (webhook ?? since) throw new UsageError('Use either a delivery or --webhook with --since.');
      const delivery = await client.redeliverWebhookEvent({ entry_id: entry });
      context.show(delivery, () => `Redelivery ${delivery.id} is ${delivery.status}.`);
      return undefined;
    }
    if (webhook === undefined || since === undefined)
      throw new UsageError('Name a delivery of `pds webhooks log`, or use --webhook ID with --since TIME.');
    let count = 0;
    const body = { config_id: webhook, since, status: 'failed' } as const;
    // one request redelivers at most 1,000 events
    for (let last = 1_000; last === 1_000; count += last) {
      last = (await client.redeliverFailedEvents({ body })).count;
      context.progress(`${count + last} events`);
    }
    context.show({ count }, () => `Redelivering ${count} failed ${count === 1 ? 'event' : 'events'}.`);
    return undefined;
  },
});

/** The commands on webhooks. */
export const webhookCommands = [list, test, log, redeliver];
