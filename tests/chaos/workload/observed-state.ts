/** Reads the state of MongoDB, RabbitMQ and the receiver, for comparison with the accepted changes. */
import { connect } from 'amqplib';
import type { EventType } from '#libs/contract';
import type { WebhookReceiver } from '#libs/testing';
import { prefixedNames } from '../../../libs/events/amqp/topology-setup.ts';
import { contracts } from '../../../services/contracts.ts';
import { readEvents, type StoredEvent } from '../violations.ts';
import type { ChaosFixture } from './fixture.ts';
import type { Change, TestTenant } from './tenant.ts';

type Db = ChaosFixture['db'];

/** An event in an outbox or at a receiver. */
interface EventSummary {
  id: string;
  type: string;
  about: string;
}

/** The number of pending events in outboxes and of pending deliveries. */
export async function countPending(db: Db): Promise<number> {
  const outboxes = contracts.map(({ name }) => `${name.replaceAll('-', '_')}_outbox`);
  const counts = outboxes.map((name) => db.collection(name).countDocuments({ pending: true }));
  const pending = db.collection('webhook_deliveries').countDocuments({ status: 'pending' });
  return (await Promise.all([...counts, pending])).reduce((sum, count) => sum + count);
}

/** The last warnings and errors in the log of each process, for error messages. */
export function systemErrors({ processes }: ChaosFixture): string {
  const storedEvents = [...processes].map(([name, part]) => {
    const lines = part.printed().split('\n');
    return [name, ...lines.filter((line) => /"level":(4|5|6)\d/.test(line)).slice(-20)].join('\n  ');
  });
  return storedEvents.join('\n');
}

/** The number of messages in each queue, retry queue and dead-letter queue. */
export async function countMessages({ rabbit, prefix }: ChaosFixture): Promise<Record<string, number>> {
  const names = prefixedNames(prefix);
  const consumers = contracts.filter(({ consumes }) => consumes.length > 0).map(({ name }) => name);
  const connection = await connect(rabbit.url);
  try {
    const channel = await connection.createChannel();
    const found: Record<string, number> = {};
    for (const name of consumers)
      for (const queue of [names.queue(name), names.retry(name), names.dead(name)])
        found[queue.slice(prefix.length)] = (await channel.checkQueue(queue)).messageCount;
    return found;
  } finally {
    await connection.close();
  }
}

/** Reads an organization's events from the outboxes: those that webhooks can subscribe to. */
export async function readChanges(db: Db, tenant: TestTenant): Promise<EventSummary[]> {
  const published = contracts.flatMap((contract): readonly EventType[] => contract.publishes);
  const types = new Set(published.filter(({ subscribable }) => subscribable).map(({ name }) => name));
  const events = (await readEvents(db, [tenant])).filter(({ type }) => types.has(type));
  return events.map(({ id, type, data }) => ({ id, type, about: getSubjectId(data) }));
}

/** The distinct events at an organization's webhook. */
export function receivedEvents(receiver: WebhookReceiver, { slug }: TestTenant): EventSummary[] {
  const bodies = receiver.requestsTo(slug).map(({ body }) => JSON.parse(body));
  return [...new Map(bodies.map((body) => [body.id, body])).values()].map(({ id, event_type, data }) => ({
    id,
    type: event_type,
    about: getSubjectId(data),
  }));
}

/** Reads the rows of an organization from MongoDB. */
export async function storedRows(db: Db, { organizationId }: TestTenant) {
  const rows = async (name: string, field: string) => {
    const found = await db.collection(name).find({ organization_id: organizationId }).toArray();
    return found.map((row) => String(row[field])).sort();
  };
  return {
    organizations: await db
      .collection<{ _id: string }>('organizations')
      .countDocuments({ _id: organizationId }),
    members: await rows('members', 'user_id'),
    keys: (await rows('api_keys', '_id')).length,
    webhooks: await rows('webhook_configs', '_id'),
    documents: await rows('documents', '_id'),
    nodes: await rows('nodes', '_id'),
    ledger: await rows('publish_ledger', 'document_id'),
    links: await rows('share_tokens', 'family_id'),
  };
}

/** Reads the notifications of an organization as text: user, type and subject. */
export async function storedNotifications(db: Db, { organizationId }: TestTenant): Promise<string[]> {
  const found = await db.collection('notifications').find({ organization_id: organizationId }).toArray();
  return found.map(({ user_id, type, about }) => `${user_id} ${type} ${about}`).sort();
}

/** Changes as sorted text, for comparison. */
export function inOrder(changes: readonly (Change | EventSummary)[]): string[] {
  return changes.map(({ type, about }) => `${type} ${about}`).sort();
}

function getSubjectId(data: StoredEvent['data']): string {
  return data.document?.id ?? data.invitation?.id ?? data.member?.id ?? '';
}
