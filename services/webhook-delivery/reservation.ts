/** Booking: a delivery for which there is a slot is in hand from its birth, so that nobody looks for it, claims it and counts it. */
import { newId } from '#libs/contract';
import type { DeliveryJob } from './attempt.ts';
import type { Candidate } from './rules/fair-scheduler.ts';
import type { Lease } from './store/update-pipelines.ts';

/** A delivery that is about to be written. */
export type NewDelivery = Omit<DeliveryJob, 'row'> & { readonly row: Omit<DeliveryJob['row'], 'lock_token'> };

/** Slots for deliveries that are about to be written. */
export interface Reservation extends Lease {
  /** These of them are written: those that have a slot go out, unless that took too long, and the others are known to be due. */
  written(those: ReadonlySet<string>): void;
  /** They are not written, or not by this process: the slots are free again. Does nothing after `written`. */
  cancel(): void;
}

/** What bookings need. */
interface ReservationDeps {
  /** How long a row that is in hand is safe from the sweep. */
  lockMs: number;
  /** Gives slots to some rows. */
  reserve(rows: readonly Candidate[]): readonly Candidate[];
  release(row: Candidate): void;
  send(parcel: DeliveryJob): void;
  wake(rows: readonly Candidate[]): void;
}

/** Makes bookings, and knows which of them are open. */
export function createReservations({ lockMs, reserve, release, send, wake }: ReservationDeps) {
  const open = new Set<Promise<void>>();

  return {
    /** Books as many deliveries as there are slots for. */
    reserve(drafts: readonly NewDelivery[]): Reservation {
      const sendable = drafts.filter(({ receiver }) => receiver.secrets.length > 0);
      const reserved = reserve(sendable.map(({ row }) => row));
      const ids = new Set(reserved.map(({ _id }) => _id));
      const lock_token = newId();
      const close = reserved.length > 0 ? opened() : () => undefined;
      // a request that begins later might last longer than its row is safe from the sweep
      const latest = performance.now() + lockMs / 3;
      let isOpen = true;
      const end = (how: () => void) => {
        if (!isOpen) return;
        isOpen = false;
        how();
        close();
      };
      return {
        ...{ token: lock_token, lockMs, ids },
        written: (those) =>
          end(() => {
            const isTooLate = performance.now() > latest;
            for (const draft of drafts.filter(({ row }) => ids.has(row._id)))
              if (isTooLate || !those.has(draft.row._id)) release(draft.row);
              else send({ ...draft, row: { ...draft.row, attempts: 1, lock_token } });
            wake(drafts.map(({ row }) => row).filter(({ _id }) => those.has(_id) && !ids.has(_id)));
          }),
        cancel: () => end(() => reserved.forEach(release)),
      };
    },

    /** Resolves when every booking that is open now, and has a slot, is at its end. */
    rest: () => Promise.all(open),
  };

  function opened(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(promise);
    return () => {
      open.delete(promise);
      resolve();
    };
  }
}
