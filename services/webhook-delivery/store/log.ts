/** The event log in MongoDB: inserts events with their deliveries and lists the entries. */
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
import { createDelivery, createEntry, type EventRef, insertMissing } from './update-pipelines.ts';

/** An event with its body. */
export type NewEvent = Readonly<EventRef> & {
  readonly body: string;
  readonly occurred_at?: Date;
  readonly trace?: string | undefined;
};

/** The result of a test request. */
export type TestResult = Pick<
  DeliveryRow,
  '_id' | 'config_id' | 'status' | 'http_status' | 'duration_ms' | 'error'
>;

/** A position in the log. */
export interface Position {
  readonly created_at: Date;
  readonly _id: string;
}

/** Filters and page of a list of entries. */
export interface ListOptions {
  readonly after: Position | undefined;
  readonly limit: number;
  readonly config_id?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event_type?: string | undefined;
}

/** Creates the repository of the event log. */
export function createEventLog(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /**
     * Inserts an event and one delivery per receiver, unless the log already has them. Returns the deliveries that
     * this call inserted; they are due at once.
     *
     * Works without a transaction: the event is inserted first and names its recipients. If the event is
     * repeated, the missing deliveries are inserted. Each step is majority-committed before the next.
     */
    async insertOnce(event: NewEvent, receiverIds: readonly string[]): Promise<DeliveryRow[]> {
      const at = now();
      const eventRow = { ...toEventRow(event, at), recipient_ids: [...receiverIds] };
      const missing = (await insertEvent(eventRow))
        ? receiverIds
        : await findMissing(eventRow._id, receiverIds);
      if (missing.length === 0) return [];
      const newRows = missing.map((id) => ({ ...createDelivery(event, id, at), is_first: true as const }));
      return insertMissing(store, newRows);
    },

    /** Inserts the entry of a test that has already been sent. */
    async recordTest(actor: Actor, event: NewEvent, result: TestResult): Promise<void> {
      const at = now();
      const fields = { is_first: true as const, redeliverable: false, attempts: 1 };
      const row = { ...createEntry(event, at), ...result, ...fields };
      await store.transact(actor, async ({ session }) => {
        await events.insertMany([toEventRow(event, at)], { session, lean: true });
        await rows.insertMany([row], { session, lean: true });
      });
    },

    /** Returns the entries of an organization after a position, newest first. */
    async list({ organization_id }: Actor, options: ListOptions): Promise<DeliveryRow[]> {
      const { after, limit, ...filters } = options;
      const activeFilters = Object.entries(filters).filter(([, value]) => value !== undefined);
      const filter = {
        organization_id,
        ...(filters.status === 'pending' && (await toPendingFilter(organization_id))),
        // lists all statuses, because status is the second field of the index by config_id
        ...(filters.config_id !== undefined && { status: { $in: deliveryStatus.options } }),
        ...Object.fromEntries(activeFilters),
        ...(after && {
          created_at: { $lte: after.created_at },
          $or: [{ created_at: { $lt: after.created_at } }, { _id: { $lt: after._id } }],
        }),
      };
      return rows.find(filter).sort({ created_at: -1, _id: -1 }).limit(limit).lean();
    },
  };

  /** Inserts an event. Returns false if it already exists. */
  async function insertEvent(event: EventRow): Promise<boolean> {
    try {
      await events.insertMany([event], { lean: true });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Returns the receivers that are recipients of a logged event and have no delivery of it yet. */
  async function findMissing(event_id: string, receiverIds: readonly string[]): Promise<string[]> {
    const [event, deliveries] = await Promise.all([
      events.findOne({ _id: event_id }, { recipient_ids: 1 }).lean(),
      // a delivery that is not majority-committed may be rolled back; inserting it again waits for the commit
      rows.find({ event_id, is_first: true }, { config_id: 1 }).readConcern('majority').lean(),
    ]);
    const existingIds = new Set(deliveries.map(({ config_id }) => config_id));
    return receiverIds.filter((id) => event?.recipient_ids?.includes(id) && !existingIds.has(id));
  }

  /**
   * Filters by the organization's webhooks, so that the index by config_id and status finds the few pending
   * rows. No index has only the pending rows of an organization.
   */
  async function toPendingFilter(organization_id: string) {
    const found = await store.rows(webhookConfigs).find({ organization_id }, { _id: 1 }).lean();
    return { config_id: { $in: found.map(({ _id }) => _id) } };
  }
}

export type EventLog = ReturnType<typeof createEventLog>;

/** Maps a row to the log entry that clients see. */
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

function toEventRow({ event_id, organization_id, body, occurred_at, trace }: NewEvent, at: Date): EventRow {
  const origin = { ...(occurred_at && { occurred_at }), ...(trace !== undefined && { trace }) };
  return { _id: event_id, organization_id, body, ...origin, created_at: at };
}
