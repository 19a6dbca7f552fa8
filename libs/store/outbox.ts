/** The outbox: events are stored in the transaction of their change until the bus has accepted them. */
import type mongoose from 'mongoose';
import { z } from 'zod';
import { type Contract, type Envelope, newId } from '#libs/contract';
import { getConsumers, type Topology } from '#libs/events';
import { collection } from './collection.ts';
import type { Actor, Transaction } from './transaction.ts';

/** An event in the outbox. */
const row = z.object({
  /** The event's id. */
  _id: z.string(),
  type: z.string(),
  /** The envelope as JSON text. */
  event: z.string(),
  created_at: z.date(),
  /** Set while the event is unpublished. */
  pending: z.literal(true).exactOptional(),
  /** The end of the lease: until then, only the process that holds the lease publishes the event. */
  lease_until: z.date().exactOptional(),
  /** The process that holds the lease. */
  lease_by: z.string().exactOptional(),
  /** The number of failed attempts to publish. */
  failures: z.number(),
  published_at: z.date().exactOptional(),
});
export type OutboxRow = z.infer<typeof row>;

/** How long a lease lasts before another process may publish the event, ms. */
export const leaseMs = 10_000;

/**
 * Declares the outbox of a service. Published rows are kept for seven days, so that they can be republished.
 */
export function outboxCollection(service: string) {
  return collection(`${service.replaceAll('-', '_')}_outbox`, {
    row,
    indexes: [
      { on: { lease_until: 1 }, options: { partialFilterExpression: { pending: true } } },
      { on: { published_at: 1 }, options: { expireAfterSeconds: 7 * 86_400 } },
    ],
  });
}

/** Where the events of a transaction come from. */
interface EventSource {
  contract: Contract;
  now: () => Date;
  /** Gets the W3C trace context of the current work, if it is traced. */
  trace: () => string | undefined;
}

/** Creates a transaction that collects its events for `writeOutbox`. */
export function collectEvents(
  actor: Actor,
  session: mongoose.ClientSession,
  { contract, now, trace }: EventSource,
): Transaction {
  const pendingEvents: Envelope[] = [];
  return {
    session,
    pendingEvents,
    publish(type, data, { organization_version } = {}) {
      if (!contract.publishes.some(({ name }) => name === type.name))
        throw new Error(`The contract of ${contract.name} does not list the event ${type.name}`);
      const traceContext = trace();
      pendingEvents.push({
        id: newId(),
        type: type.name,
        occurred_at: now().toISOString(),
        organization_id: actor.organization_id,
        actor_id: actor.user_id,
        ...(actor.key_id ? { api_key_id: actor.key_id } : {}),
        ...(actor.request_id === undefined ? {} : { request_id: actor.request_id }),
        ...(organization_version === undefined ? {} : { organization_version }),
        data: type.data.parse(data),
        ...(traceContext ? { trace: traceContext } : {}),
      });
    },
  };
}

/**
 * Writes the pending events as the last write before the commit, and sets their `occurred_at` to now. Skips
 * events that no queue is bound to. Returns the envelopes that were written.
 */
export async function writeOutbox(
  outbox: mongoose.mongo.Collection<OutboxRow>,
  tx: Transaction,
  options: { topology: Topology; now: () => Date; by: string },
): Promise<Envelope[]> {
  const created_at = options.now();
  const events = tx.pendingEvents
    .filter((event) => getConsumers(options.topology, event.type).length > 0)
    .map((event) => ({ ...event, occurred_at: created_at.toISOString() }));
  if (events.length === 0) return [];
  const rows = events.map((event) => ({
    _id: event.id,
    type: event.type,
    event: JSON.stringify(event),
    created_at,
    pending: true as const,
    lease_until: new Date(created_at.getTime() + leaseMs),
    lease_by: options.by,
    failures: 0,
  }));
  await outbox.insertMany(rows, { session: tx.session });
  return events;
}

/** The unpublished events of an outbox. */
export interface Backlog {
  /** The number of unpublished events, capped at 10,000. */
  count: number;
  /** The age of the oldest of them, s; 0 if there is none. */
  oldestSeconds: number;
}

const maxCounted = 10_000;

/** Counts the unpublished events by the index on `lease_until`. */
export async function countBacklog(outbox: mongoose.Model<OutboxRow>, now: Date): Promise<Backlog> {
  const [found] = await outbox
    .aggregate<{ count: number; oldest: Date }>([
      { $match: { pending: true, lease_until: { $gt: new Date(0) } } },
      { $sort: { lease_until: 1 } },
      { $limit: maxCounted },
      { $group: { _id: null, count: { $sum: 1 }, oldest: { $min: '$created_at' } } },
    ])
    .exec();
  if (!found) return { count: 0, oldestSeconds: 0 };
  return { count: found.count, oldestSeconds: Math.max(0, now.getTime() - found.oldest.getTime()) / 1000 };
}

/**
 * Marks events that were published since `since` as pending again, e.g. after a broker reset. Returns their
 * number.
 */
export async function requeue(outbox: mongoose.Model<OutboxRow>, since: Date, now: Date): Promise<number> {
  const { modifiedCount } = await outbox.updateMany(
    { published_at: { $gte: since } },
    { $set: { pending: true, lease_until: now, failures: 0 }, $unset: { published_at: 1 } },
  );
  return modifiedCount;
}
