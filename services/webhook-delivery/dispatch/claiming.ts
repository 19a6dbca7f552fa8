/** Claims due deliveries in batches, loads what is needed to send them, and starts to deliver them. */
import { newId } from '#libs/contract';
import type { Candidate, Scheduler } from '../rules/dynamic-threshold-scheduler.ts';
import type { Queue } from '../store/queue.ts';
import type { Receivers } from '../store/receivers.ts';
import { type Delivery, toDelivery } from './attempt.ts';
import { createTasks } from './tasks.ts';

/** Dependencies of claims. */
export interface ClaimingDeps {
  queue: Pick<Queue, 'claim' | 'release' | 'getEvents'>;
  receivers: Pick<Receivers, 'getByIds'>;
  scheduler: Pick<Scheduler, 'release'>;
  /** Delivers a claimed row. */
  deliver(delivery: Delivery): Promise<void>;
  /** Whether claimed rows are released instead of delivered. */
  isStopping(): boolean;
  /** Called when a slot became free. */
  onSlotFreed(): void;
  onError(message: string, error: unknown): void;
}

export type Claiming = ReturnType<typeof createClaiming>;

/** Creates the claims of this process. */
export function createClaiming({ scheduler, deliver, onSlotFreed, onError, ...deps }: ClaimingDeps) {
  const [claims, deliveries] = [createTasks(), createTasks()];

  return {
    /** Claims rows that have a slot and delivers them, in the background. */
    start: (rows: readonly Candidate[]): void => claims.add(claimAndDeliver(rows)),

    /** Delivers a claimed row that has a slot, in the background. */
    startDelivery,

    /** Returns the number of batches that are being claimed. */
    countRunning: claims.count,

    /** Resolves when all deliveries that were started have ended. */
    async idle(): Promise<void> {
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
  { queue, receivers, isStopping }: Pick<ClaimingDeps, 'queue' | 'receivers' | 'isStopping'>,
): Promise<Delivery[]> {
  const [ids, token] = [rows.map(({ _id }) => _id), newId()];
  try {
    const claimed = await queue.claim(ids, token);
    if (claimed.length === 0) return [];
    const [receiversById, events] = await Promise.all([
      receivers.getByIds(claimed.map(({ config_id }) => config_id)),
      queue.getEvents(claimed.map(({ event_id }) => event_id)),
    ]);
    if (!isStopping())
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
