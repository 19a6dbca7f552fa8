/** Inserts new deliveries and sends those that get a slot at once, without the queries of a claim. */
import { newId } from '#libs/contract';
import type { Candidate, Scheduler } from '../rules/dynamic-threshold-scheduler.ts';
import type { DeliveryRow } from '../store/collections.ts';
import type { NewDeliveries, NewEvent } from '../store/new-deliveries.ts';
import type { Receiver } from '../store/receivers.ts';
import { toDelivery } from './attempt.ts';
import type { Claiming } from './claiming.ts';
import { createTasks } from './tasks.ts';

/** The deliveries of one event that are not stored yet. */
export interface NewEventDeliveries {
  readonly event: NewEvent;
  readonly rows: readonly DeliveryRow[];
  readonly recipients: readonly Receiver[];
}

/** Dependencies of `createInserting`. */
interface InsertingDeps {
  newDeliveries: Pick<NewDeliveries, 'insertMissing'>;
  scheduler: Pick<Scheduler, 'takeAtOnce' | 'release'>;
  claiming: Pick<Claiming, 'startDelivery'>;
  /** How long a claimed row stays locked, ms. */
  lockMs: number;
  isRunning(): boolean;
  onSlotFreed(): void;
}

/** Creates the insertion of new deliveries. */
export function createInserting(deps: InsertingDeps) {
  const { newDeliveries, scheduler, claiming, lockMs, isRunning, onSlotFreed } = deps;
  const insertions = createTasks();

  return {
    /** Inserts deliveries, starts those that got a slot and returns the other inserted ones. */
    insert(deliveries: NewEventDeliveries): Promise<DeliveryRow[]> {
      const inserted = insertAndStart(deliveries);
      insertions.add(inserted.then(ignore, ignore));
      return inserted;
    },

    /** Resolves when no insertion is running. */
    idle: insertions.idle,
  };

  async function insertAndStart({ event, rows, recipients }: NewEventDeliveries): Promise<DeliveryRow[]> {
    const taken = isRunning() ? scheduler.takeAtOnce(rows) : [];
    const claim = { token: newId(), ids: new Set(taken.map(({ _id }) => _id)) };
    // a request that starts later could outlast the lock; then the sweep unlocks the row
    const latestStart = performance.now() + lockMs / 3;
    const unused = new Set<Candidate>(taken);
    try {
      const inserted = await newDeliveries.insertMissing(rows, claim);
      const claimed = inserted.filter(({ _id }) => claim.ids.has(_id));
      for (const row of performance.now() > latestStart ? [] : claimed) {
        const receiver = recipients.find(({ id }) => id === row.config_id);
        const claimedRow = { ...row, attempts: 1, lock_token: claim.token };
        unused.delete(row);
        claiming.startDelivery(toDelivery(claimedRow, receiver, event));
      }
      return inserted.filter(({ _id }) => !claim.ids.has(_id));
    } finally {
      for (const row of unused) scheduler.release(row);
      if (unused.size > 0) onSlotFreed();
    }
  }
}

function ignore(): void {}
