/** The outbox: events written in the transaction of their change, until the bus has taken them. */
import type mongoose from 'mongoose';
import { type Envelope, newId } from '#libs/contract';
import { getConsumers, type Topology } from '#libs/events';
import { collection } from './collection.ts';
import type { Actor, Transaction } from './transaction.ts';

/** One event on its way out. */
export interface OutboxRow {
  /** The event's id. */
  _id: string;
  type: string;
  /** The envelope as JSON text. */
  event: string;
  created_at: Date;
  /** Set while the event is unpublished. */
  pending?: true;
  /** Until when one process has it in hand. */
  lease_until?: Date;
  lease_by?: string;
  /** Publications that failed. */
  failures: number;
  published_at?: Date;
}

/** How long a process has an event in hand before another may publish it, ms. */
export const leaseMs = 10_000;

/** The outbox of a service; published rows stay seven days, so that they can be sent again. */
export function outboxCollection(service: string) {
  return collection<OutboxRow>(`${service.replaceAll('-', '_')}_outbox`, {
    fields: {
      _id: String,
      type: String,
      event: String,
      created_at: Date,
      pending: Boolean,
      lease_until: Date,
      lease_by: String,
      failures: Number,
      published_at: Date,
    },
    indexes: [
      { on: { lease_until: 1 }, options: { partialFilterExpression: { pending: true } } },
      { on: { published_at: 1 }, options: { expireAfterSeconds: 7 * 86_400 } },
    ],
  });
}

/** A transaction whose events are collected until `writeOutbox`. */
export function collectEvents(
  actor: Actor,
  session: mongoose.ClientSession,
  now: () => Date,
  trace: () => string | undefined,
): Transaction {
  const pendingEvents: Envelope[] = [];
  return {
    session,
    pendingEvents,
    publish(type, data) {
      const traceContext = trace();
      pendingEvents.push({
        id: newId(),
        type: type.name,
        occurred_at: now().toISOString(),
        organization_id: actor.organization_id,
        actor_id: actor.user_id,
        data: type.data.parse(data),
        ...(traceContext ? { trace: traceContext } : {}),
      });
    },
  };
}

/**
 * Writes what was said, last of all before the commit: that is when it occurs. Events that nobody hears are not written.
 * Gives the rows' envelopes.
 */
export async function writeOutbox(
  outbox: mongoose.Model<OutboxRow>,
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
  await outbox.insertMany(rows, { session: tx.session, lean: true });
  return events;
}

/** What waits in an outbox. */
export interface Backlog {
  /** Events that the bus has not taken; 10,000 stand for as many or more. */
  count: number;
  /** How long the oldest of them has been waiting, s; 0 when there is none. */
  oldestSeconds: number;
}

const maxCounted = 10_000;

/** Counts what waits, along the index of the leases. */
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

/** Makes events that were published since then pending again, e.g. because a broker has lost them; gives their number. */
export async function requeue(outbox: mongoose.Model<OutboxRow>, since: Date, now: Date): Promise<number> {
  const { modifiedCount } = await outbox.updateMany(
    { published_at: { $gte: since } },
    { $set: { pending: true, lease_until: now, failures: 0 }, $unset: { published_at: 1 } },
  );
  return modifiedCount;
}
