/** Reads the state of MongoDB, RabbitMQ and the receiver, for comparison with the API responses. */
import { connect } from 'amqplib';
import { prefixedNames } from '../../../libs/events/amqp/topology-setup.ts';
import { contracts } from '../../../services/contracts.ts';
import type { ChaosFixture } from './fixture.ts';
import { type ChaosReceiver, type Post, verify } from './receiver.ts';
import type { Change, TestTenant } from './tenant.ts';

type Db = ChaosFixture['db'];

/** An event in an outbox or at a receiver. */
interface EventSummary {
  id: string;
  type: string;
  about: string;
}

/** When a process was killed, and when its successor was ready, Unix ms. */
export interface Kill {
  from: number;
  until: number;
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

/** Reads an organization's events from the outboxes of identity and documents, without `api_key.used`. */
export async function readEvents(db: Db, { organizationId }: TestTenant): Promise<EventSummary[]> {
  const found = await Promise.all(
    ['identity_outbox', 'documents_outbox'].map((name) =>
      db
        .collection(name)
        .find({ type: { $ne: 'api_key.used' } })
        .toArray(),
    ),
  );
  return found
    .flat()
    .map(({ event }) => JSON.parse(event))
    .filter(({ organization_id }) => organization_id === organizationId)
    .map(({ id, type, data }) => ({ id, type, about: getSubjectId(data) }));
}

/** The distinct events at an organization's webhook. Throws on a wrong signature or differing bodies. */
export function receivedEvents(receiver: ChaosReceiver, tenant: TestTenant): EventSummary[] {
  const bodies = new Map<string, string>();
  for (const post of receiver.postsTo(tenant.slug)) {
    verify(post, tenant);
    const { id } = JSON.parse(post.body);
    if (id !== post.headers['webhook-id'])
      throw new Error(`Event ${id} has the webhook-id ${post.headers['webhook-id']}`);
    const before = bodies.get(id) ?? post.body;
    if (before !== post.body) throw new Error(`Event ${id} has two bodies:\n${before}\n${post.body}`);
    bodies.set(id, post.body);
  }
  return [...bodies.values()]
    .map((body) => JSON.parse(body))
    .map(({ id, event_type, data }) => ({ id, type: event_type, about: getSubjectId(data) }));
}

/** The repeated POSTs of an organization that no kill of a sender explains. */
export function unexpectedRepeats(
  receiver: ChaosReceiver,
  tenant: TestTenant,
  kills: readonly Kill[],
): Post[] {
  const lastAt = new Map<string, number>();
  return receiver.postsTo(tenant.slug).filter(({ headers, at }) => {
    const id = String(headers['webhook-id']);
    const before = lastAt.get(id);
    lastAt.set(id, at);
    return before !== undefined && !kills.some((kill) => before <= kill.until && kill.from <= at);
  });
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

function getSubjectId(
  data: Record<'document' | 'invitation' | 'member', { id: string } | undefined>,
): string {
  return data.document?.id ?? data.invitation?.id ?? data.member?.id ?? '';
}
