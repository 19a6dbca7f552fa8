/** The event log in MongoDB: what is to be told is written here, and what was told is read from here. */
import { type Actor, isDuplicate, type Store } from '#libs/store';
import type { DeliveryStatus, WebhookEvent } from '../contract.ts';
import { deliveryStatus } from '../shapes.ts';
import {
  type DeliveryRow,
  type EventRow,
  webhookConfigs,
  webhookDeliveries,
  webhookEvents,
} from './collections.ts';
import { type About, entry, type Lease, newDelivery, writeMissing } from './update-pipelines.ts';

/** An event to be told. */
export type EventToDeliver = Readonly<About> & {
  readonly body: string;
  readonly occurred_at?: Date;
  readonly trace?: string | undefined;
};

/** How the one request of a test ended. */
export type Ended = Pick<
  DeliveryRow,
  '_id' | 'config_id' | 'status' | 'http_status' | 'duration_ms' | 'error'
>;

/** A position in the log. */
export interface Position {
  readonly created_at: Date;
  readonly _id: string;
}

/** Which entries are listed. */
export interface Listed {
  readonly after: Position | undefined;
  readonly limit: number;
  readonly config_id?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event_type?: string | undefined;
}

/** Writes and reads the log. */
export function eventLog(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /**
     * Keeps an event's body, and a row for each webhook that it is to be told to, unless they are in the log: gives the ids of
     * the rows that this call has written. `book` says which of them are in hand from the beginning; the others are due at once.
     *
     * No transaction: the body comes first and names the webhooks, so that whoever finds it when the event comes again writes
     * what is missing. Every step is known to the majority before the next.
     */
    async enqueueOnce<Receiver extends { readonly id: string }>(
      telling: EventToDeliver,
      receivers: readonly Receiver[],
      book: (
        drafts: readonly { row: DeliveryRow; receiver: Receiver; event: EventRow }[],
      ) => Lease | undefined,
    ): Promise<ReadonlySet<string>> {
      const at = now();
      const event = { ...bodyRow(telling, at), recipient_ids: receivers.map(({ id }) => id) };
      const left = (await isNew(event)) ? receivers : await withoutDelivery(event._id, receivers);
      if (left.length === 0) return new Set();
      const drafts = left.map((receiver) => {
        const row = { ...newDelivery(telling, receiver.id, at), is_first: true as const };
        return { row, receiver, event };
      });
      const written = drafts.map(({ row }) => row);
      return writeMissing(store, written, book(drafts));
    },

    /** Keeps the entry of a test that was sent already. */
    async record(acting: Actor, telling: EventToDeliver, ended: Ended): Promise<void> {
      const at = now();
      const once = { is_first: true as const, redeliverable: false, attempts: 1 };
      const row = { ...entry(telling, at), ...ended, ...once };
      await store.transact(acting, async ({ session }) => {
        await events.insertMany([bodyRow(telling, at)], { session, lean: true });
        await rows.insertMany([row], { session, lean: true });
      });
    },

    /** An organization's entries after a position, the newest first. */
    async list({ organization_id }: Actor, listed: Listed): Promise<DeliveryRow[]> {
      const { after, limit, ...filters } = listed;
      const named = Object.entries(filters).filter(([, value]) => value !== undefined);
      const which = {
        organization_id,
        ...(filters.status === 'pending' && (await whereRowsWait(organization_id))),
        // all of them, because the index of webhooks goes by status
        ...(filters.config_id !== undefined && { status: { $in: deliveryStatus.options } }),
        ...Object.fromEntries(named),
        ...(after && {
          created_at: { $lte: after.created_at },
          $or: [{ created_at: { $lt: after.created_at } }, { _id: { $lt: after._id } }],
        }),
      };
      return rows.find(which).sort({ created_at: -1, _id: -1 }).limit(limit).lean();
    },
  };

  /** Writes the row of an event; gives whether there was none. */
  async function isNew(event: EventRow): Promise<boolean> {
    try {
      await events.insertMany([event], { lean: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Those of some webhooks that an event in the log was to be told to, and has no row for. */
  async function withoutDelivery<Receiver extends { readonly id: string }>(
    event_id: string,
    receivers: readonly Receiver[],
  ): Promise<Receiver[]> {
    const [event, told] = await Promise.all([
      events.findOne({ _id: event_id }, { recipient_ids: 1 }).lean(),
      // what the majority does not know may yet be lost: trying to write it again waits for that
      rows.find({ event_id, is_first: true }, { config_id: 1 }).readConcern('majority').lean(),
    ]);
    const toldTo = new Set(told.map(({ config_id }) => config_id));
    return receivers.filter(({ id }) => event?.recipient_ids?.includes(id) && !toldTo.has(id));
  }

  /** Few rows are pending among all of an organization, and no index has just those: the webhooks lead there. */
  async function whereRowsWait(organization_id: string) {
    const found = await store.rows(webhookConfigs).find({ organization_id }, { _id: 1 }).lean();
    return { config_id: { $in: found.map(({ _id }) => _id) } };
  }
}

export type EventLog = ReturnType<typeof eventLog>;

/** A row as clients see it. */
export function toEntry(row: DeliveryRow): WebhookEvent {
  return {
    id: row._id,
    event_type: row.event_type,
    direction: 'outbound',
    status: row.status,
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    config_id: row.config_id,
    event_id: row.event_id,
    document_id: row.document_id,
    http_status: row.http_status,
    duration_ms: row.duration_ms,
    error: row.error,
    next_attempt_at: row.due_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
  };
}

function bodyRow(
  { event_id, organization_id, body, occurred_at, trace }: EventToDeliver,
  at: Date,
): EventRow {
  const since = { ...(occurred_at && { occurred_at }), ...(trace !== undefined && { trace }) };
  return { _id: event_id, organization_id, body, ...since, created_at: at };
}
