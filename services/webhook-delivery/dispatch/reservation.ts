/**
 * Reserves slots for new deliveries; a slot permits one request in flight. A delivery with a slot is inserted as
 * already leased, with its first attempt counted, and is sent without the poll, claim and count steps.
 */
import { newId } from '#libs/contract';
import type { Candidate } from '../rules/dynamic-threshold-scheduler.ts';
import type { Lease } from '../store/update-pipelines.ts';
import type { DeliveryJob } from './attempt.ts';

/** A delivery that is about to be inserted. */
export type NewDelivery = Omit<DeliveryJob, 'row'> & { readonly row: Omit<DeliveryJob['row'], 'lock_token'> };

/** Slots that are reserved for deliveries about to be inserted. */
export interface Reservation extends Lease {
  /**
   * Ends the reservation after the insert. Of the deliveries that this process inserted (`insertedIds`), those
   * with a slot are sent and the others are queued. If the insert took too long, the slots are released, and
   * the sweep unlocks the rows later.
   */
  confirm(insertedIds: ReadonlySet<string>): void;
  /** Releases the slots because this process did not insert the deliveries. Does nothing after `confirm`. */
  cancel(): void;
}

/** Dependencies of reservations. */
interface ReservationDeps {
  /** How long a lease lasts, ms. After that the sweep unlocks the row. */
  lockMs: number;
  /** Gives slots to as many rows as possible and returns these rows. */
  takeSlots(rows: readonly Candidate[]): readonly Candidate[];
  releaseSlot(row: Candidate): void;
  send(job: DeliveryJob): void;
  enqueue(rows: readonly Candidate[]): void;
}

/** Creates reservations and tracks which of them are open. */
export function createReservations({ lockMs, takeSlots, releaseSlot, send, enqueue }: ReservationDeps) {
  const openReservations = new Set<Promise<void>>();

  return {
    /** Reserves slots for as many of these deliveries as possible. */
    reserve(deliveries: readonly NewDelivery[]): Reservation {
      // a request without a secret could not be signed
      const sendable = deliveries.filter(({ receiver }) => receiver.secrets.length > 0);
      const reserved = takeSlots(sendable.map(({ row }) => row));
      const ids = new Set(reserved.map(({ _id }) => _id));
      const lock_token = newId();
      const markEnded = reserved.length > 0 ? trackOpen() : () => undefined;
      // a request that starts later could outlast the lease, and the sweep would unlock its row
      const latestStart = performance.now() + lockMs / 3;
      let isOpen = true;
      const end = (action: () => void) => {
        if (!isOpen) return;
        isOpen = false;
        action();
        markEnded();
      };
      return {
        token: lock_token,
        lockMs,
        ids,
        confirm: (insertedIds) =>
          end(() => {
            const isTooLate = performance.now() > latestStart;
            for (const delivery of deliveries.filter(({ row }) => ids.has(row._id)))
              if (isTooLate || !insertedIds.has(delivery.row._id)) releaseSlot(delivery.row);
              else send({ ...delivery, row: { ...delivery.row, attempts: 1, lock_token } });
            enqueue(
              deliveries.map(({ row }) => row).filter(({ _id }) => insertedIds.has(_id) && !ids.has(_id)),
            );
          }),
        cancel: () => end(() => reserved.forEach(releaseSlot)),
      };
    },

    /** Resolves when every reservation that is open now and holds a slot has ended. */
    idle: () => Promise.all(openReservations),
  };

  function trackOpen(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    openReservations.add(promise);
    return () => {
      openReservations.delete(promise);
      resolve();
    };
  }
}
