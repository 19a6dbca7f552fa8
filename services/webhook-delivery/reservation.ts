/**
 * Reservations: if a slot is free, a new delivery is inserted as already leased, with its first attempt
 * counted. This skips the poll, claim and count steps.
 */
import { newId } from '#libs/contract';
import type { DeliveryJob } from './attempt.ts';
import type { Candidate } from './rules/fair-scheduler.ts';
import type { Lease } from './store/update-pipelines.ts';

/** A delivery that is about to be inserted. */
export type NewDelivery = Omit<DeliveryJob, 'row'> & { readonly row: Omit<DeliveryJob['row'], 'lock_token'> };

/** Slots that are reserved for deliveries about to be inserted. */
export interface Reservation extends Lease {
  /**
   * Ends the reservation after the insert; `insertedIds` are the deliveries that this process inserted. Those
   * with a slot are sent, unless the insert took too long. Those without a slot are queued.
   */
  confirm(insertedIds: ReadonlySet<string>): void;
  /** Releases the slots because this process did not insert the deliveries. Does nothing after `confirm`. */
  cancel(): void;
}

/** Dependencies of reservations. */
interface ReservationDeps {
  /** How long a leased row is protected from the sweep, ms. */
  lockMs: number;
  /** Gives slots to as many rows as possible and returns these rows. */
  reserve(rows: readonly Candidate[]): readonly Candidate[];
  release(row: Candidate): void;
  send(job: DeliveryJob): void;
  wake(rows: readonly Candidate[]): void;
}

/** Creates reservations and tracks which of them are open. */
export function createReservations({ lockMs, reserve, release, send, wake }: ReservationDeps) {
  const open = new Set<Promise<void>>();

  return {
    /** Reserves slots for as many of these deliveries as possible. */
    reserve(deliveries: readonly NewDelivery[]): Reservation {
      const sendable = deliveries.filter(({ receiver }) => receiver.secrets.length > 0);
      const reserved = reserve(sendable.map(({ row }) => row));
      const ids = new Set(reserved.map(({ _id }) => _id));
      const lock_token = newId();
      const close = reserved.length > 0 ? trackOpen() : () => undefined;
      // a request that starts later could outlast the lease, and the sweep would unlock its row
      const latestStart = performance.now() + lockMs / 3;
      let isOpen = true;
      const end = (action: () => void) => {
        if (!isOpen) return;
        isOpen = false;
        action();
        close();
      };
      return {
        ...{ token: lock_token, lockMs, ids },
        confirm: (insertedIds) =>
          end(() => {
            const isTooLate = performance.now() > latestStart;
            for (const delivery of deliveries.filter(({ row }) => ids.has(row._id)))
              if (isTooLate || !insertedIds.has(delivery.row._id)) release(delivery.row);
              else send({ ...delivery, row: { ...delivery.row, attempts: 1, lock_token } });
            wake(deliveries.map(({ row }) => row).filter(({ _id }) => insertedIds.has(_id) && !ids.has(_id)));
          }),
        cancel: () => end(() => reserved.forEach(release)),
      };
    },

    /** Resolves when every reservation that is open now and holds a slot has ended. */
    idle: () => Promise.all(open),
  };

  function trackOpen(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(promise);
    return () => {
      open.delete(promise);
      resolve();
    };
  }
}
