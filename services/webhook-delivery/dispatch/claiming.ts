/** Starts deliveries that got a slot: claims due rows in batches, or inserts new rows that are already claimed. */
import { newId } from '#libs/contract';
import type { Candidate, Scheduler } from '../rules/dynamic-threshold-scheduler.ts';
import type { DeliveryRow } from '../store/collections.ts';
import type { NewDeliveries, NewEvent } from '../store/new-deliveries.ts';
import type { Queue } from '../store/queue.ts';
import type { Receiver, Receivers } from '../store/receivers.ts';
import { type Delivery, toDelivery } from './attempt.ts';
import { createTasks } from './tasks.ts';

/** The deliveries of one event that are not stored yet. */
export interface NewEventDeliveries {
  readonly event: NewEvent;
  readonly rows: readonly DeliveryRow[];
  readonly recipients: readonly Receiver[];
}

/** Dependencies of claims. */
export interface ClaimingDeps {
  queue: Pick<Queue, 'claim' | 'release' | 'getEvents'>;
  receivers: Pick<Receivers, 'getByIds'>;
  newDeliveries: Pick<NewDeliveries, 'insertMissing'>;
  scheduler: Pick<Scheduler, 'takeAtOnce' | 'release'>;
  /** How long a claimed row stays locked, ms. */
  lockMs: number;
  /** Delivers a claimed row. */
  deliver(delivery: Delivery): Promise<void>;
  /** Whether deliveries may start. If not, claimed rows are released and new ones are only inserted. */
  isRunning(): boolean;
  /** Called when a slot became free. */
  onSlotFreed(): void;
  onError(message: string, error: unknown): void;
}

/** Creates the claims of this process. */
export function createClaiming({ scheduler, deliver, onSlotFreed, onError, ...deps }: ClaimingDeps) {
  const { newDeliveries, lockMs, isRunning } = deps;
  const [insertions, claims, deliveries] = [createTasks(), createTasks(), createTasks()];

  return {
    /** Claims rows that have a slot and delivers them, in the background. */
    start: (rows: readonly Candidate[]): void => claims.add(claimAndDeliver(rows)),

    /** Inserts deliveries, starts those that got a slot at once and returns the other inserted ones. */
    insert(newEvent: NewEventDeliveries): Promise<DeliveryRow[]> {
      const inserted = insertAndDeliver(newEvent);
      insertions.add(inserted.then(ignore, ignore));
      return inserted;
    },

    /** Returns the number of batches that are being claimed. */
    countRunning: claims.count,

    /** Resolves when all insertions and deliveries that were started have ended. */
    async idle(): Promise<void> {
      await insertions.idle();
      await claims.idle();
      await deliveries.idle();
    },
  };

  async function claimAndDeliver(rows: readonly Candidate[]): Promise<void> {
    const claimed = await claim(rows, deps).catch((error) => {
      onError('Could not claim due deliveries', error);
      return [];
    });
    const claimedIds = new Set(claimed.map(({ row }) => row._id));
    for (const row of rows) if (!claimedIds.has(row._id)) scheduler.release(row);
    claimed.forEach(startDelivery);
    onSlotFreed();
  }

  async function insertAndDeliver({ event, rows, recipients }: NewEventDeliveries): Promise<DeliveryRow[]> {
    const unused = new Set<Candidate>(isRunning() ? scheduler.takeAtOnce(rows) : []);
    const claim = { token: newId(), ids: new Set([...unused].map(({ _id }) => _id)) };
    // a request that starts later could outlast the lock; then the sweep unlocks the row
    const latestStart = performance.now() + lockMs / 3;
    try {
      const inserted = await newDeliveries.insertMissing(rows, claim);
      const claimed = inserted.filter(({ _id }) => claim.ids.has(_id));
      for (const row of performance.now() > latestStart ? [] : claimed) {
        const receiver = recipients.find(({ id }) => id === row.config_id);
        unused.delete(row);
        startDelivery(toDelivery({ ...row, attempts: 1, lock_token: claim.token }, receiver, event));
      }
      return inserted.filter(({ _id }) => !claim.ids.has(_id));
    } finally {
      for (const row of unused) scheduler.release(row);
      if (unused.size > 0) onSlotFreed();
    }
  }

  function startDelivery(delivery: Delivery): void {
    const { row } = delivery;
    const task = deliver(delivery)
      // the row stays locked until its lock expires; then the sweep unlocks it
      .catch((error) => onError(`Delivery ${row._id} failed unexpectedly`, error))
      .finally(() => {
        scheduler.release(row);
        onSlotFreed();
      });
    deliveries.add(task);
  }
}

/** Claims rows and returns those that may be delivered now. If it fails or the process stops, releases them. */
async function claim(
  rows: readonly Candidate[],
  { queue, receivers, isRunning }: Pick<ClaimingDeps, 'queue' | 'receivers' | 'isRunning'>,
): Promise<Delivery[]> {
  const [ids, token] = [rows.map(({ _id }) => _id), newId()];
  try {
    const claimed = await queue.claim(ids, token);
    if (claimed.length === 0) return [];
    const [receiversById, events] = await Promise.all([
      receivers.getByIds(claimed.map(({ config_id }) => config_id)),
      queue.getEvents(claimed.map(({ event_id }) => event_id)),
    ]);
    if (isRunning())
      return claimed.map((row) =>
        toDelivery(row, receiversById.get(row.config_id), events.get(row.event_id)),
      );
    await queue.release(ids, token);
    return [];
  } catch (error) {
    await queue.release(ids, token);
    throw error;
  }
}

function ignore(): void {}
