/** Matching: an event becomes one delivery for each active webhook that subscribes to it. */
import { z } from 'zod';
import { type Envelope, type EventType, id } from '#libs/contract';
import { type Listener, on } from '#libs/events';
import type { Store, Transaction } from '#libs/store';
import { subscriptionTerms } from '../identity/contract.ts';
import type { Booking } from './booking.ts';
import type { Deliverer } from './delivering.ts';
import { bodyOf } from './rules/message.ts';
import type { Configs } from './store/configs.ts';
import type { EventLog } from './store/log.ts';

const aboutDocument = z.object({ document: z.object({ id }) });

/** Listeners for subscribable events; what was written is handed to the worker that delivers. */
export function matching(
  types: readonly EventType[],
  of: {
    store: Pick<Store, 'once' | 'read'>;
    configs: Pick<Configs, 'subscribed'>;
    log: Pick<EventLog, 'enqueue'>;
    worker: Pick<Deliverer, 'book'>;
  },
): Listener[] {
  const terms = of.store.read(subscriptionTerms);
  return types.map((type) => on(type, match));

  async function match(event: Envelope): Promise<void> {
    const bookings: Booking[] = [];
    const cancel = () => {
      for (const booking of bookings.splice(0)) booking.cancel();
    };
    try {
      const isMine = await of.store.once(event, async (tx) => {
        // what an earlier try of this transaction booked
        cancel();
        await tell(event, tx, (booking) => bookings.push(booking));
      });
      if (isMine) for (const booking of bookings) booking.written();
    } finally {
      cancel();
    }
  }

  async function tell(event: Envelope, tx: Transaction, booked: (booking: Booking) => void): Promise<void> {
    const { organization_id } = event;
    const subscribed = await of.configs.subscribed(organization_id, event.type, tx);
    if (subscribed.length === 0 || !(await isOnScalePlan(organization_id))) return;
    const telling = tellingOf(event);
    await of.log.enqueue(telling, subscribed, tx, (drafts) => {
      const booking = of.worker.book(drafts);
      booked(booking);
      return booking;
    });
  }

  /** Webhooks of a lapsed plan stay, and are skipped. */
  async function isOnScalePlan(organizationId: string): Promise<boolean> {
    return (await terms.in(organizationId).one({}))?.plan === 'scale';
  }
}

function tellingOf(event: Envelope) {
  const { organization_id } = event;
  return {
    event_id: event.id,
    event_type: event.type,
    organization_id,
    document_id: aboutDocument.safeParse(event.data).data?.document.id ?? null,
    body: bodyOf(event),
    occurred_at: new Date(event.occurred_at),
    trace: event.trace,
  };
}
