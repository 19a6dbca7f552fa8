/** The event log in MongoDB: lists its entries, reads one with its requests, and inserts tests. */
import { NotFound } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import type { DeliveryStatus } from '../contract.ts';
import { deliveryStatus } from '../shapes.ts';
import {
  type DeliveryRow,
  webhookConfigs,
  webhookDeliveries,
  webhookEvents,
  withoutAttempts,
} from './collections.ts';
import { createEntry, type NewEvent, toEventRow } from './new-deliveries.ts';
import type { LoggedRequest } from './queue.ts';

/** The result of a test request. */
export type TestResult = Pick<
  DeliveryRow,
  '_id' | 'config_id' | 'status' | 'http_status' | 'duration_ms' | 'error'
> & { duration_ms: number; request: LoggedRequest };

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
  readonly document_id?: string | undefined;
}

/** Creates the repository of the event log. */
export function createEventLog(store: Store, now: () => Date) {
  const rows = store.rows(webhookDeliveries);
  const events = store.rows(webhookEvents);

  return {
    /** Inserts the entry of a test that has already been sent. */
    async recordTest(actor: Actor, event: NewEvent, { request, ...result }: TestResult): Promise<void> {
      const at = now();
      const { http_status, duration_ms, error } = result;
      const attempt_log = [{ attempt: 1, http_status, duration_ms, error, ...request }];
      const fields = { is_first: true as const, redeliverable: false, attempts: 1, attempt_log };
      const row = { ...createEntry(event, at), ...result, ...fields };
      await store.transact(actor, async ({ session }) => {
        await events.insertMany([toEventRow(event, at)], { session, lean: true });
        await rows.insertMany([row], { session, lean: true });
      });
    },

    /** Returns an entry with its attempts, and the body of its event if it is still stored; throws `NotFound`. */
    async getDetails(
      { organization_id }: Actor,
      _id: string,
    ): Promise<{ entry: DeliveryRow; body: string | null }> {
      const entry = await rows.findOne({ _id, organization_id }).lean();
      if (!entry) throw NotFound();
      const event = await events.findOne({ _id: entry.event_id, organization_id }, { body: 1 }).lean();
      return { entry, body: event?.body ?? null };
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
      return rows.find(filter, withoutAttempts).sort({ created_at: -1, _id: -1 }).limit(limit).lean();
    },
  };

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
