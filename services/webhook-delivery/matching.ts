/** Matching: an event becomes one delivery for each active webhook that subscribes to it. */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type Envelope, type EventType, id } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import { subscriptionTerms } from '../identity/contract.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Reservation } from './reservation.ts';
import { toBody } from './rules/message.ts';
import type { Configs } from './store/configs.ts';
import type { EventLog } from './store/log.ts';

const aboutDocument = z.object({ document: z.object({ id }) });

/** An organization that was on the Scale plan is taken to be on it for so long. */
const knownForMs = 5_000;

/**
 * Listeners for subscribable events; what was written is handed to the worker that delivers. The log is what remembers
 * which events came before: one that nobody subscribes to leaves nothing behind.
 */
export function matching(
  types: readonly EventType[],
  {
    store,
    configs,
    log,
    worker,
  }: {
    store: Pick<Store, 'read'>;
    configs: Pick<Configs, 'subscribed'>;
    log: Pick<EventLog, 'enqueueOnce'>;
    worker: Pick<Dispatcher, 'reserve'>;
  },
): Subscriber[] {
  const terms = store.read(subscriptionTerms);
  const onScalePlan = new LRUCache<string, true>({ max: 10_000, ttl: knownForMs });
  return types.map((type) => on(type, match));

  async function match(event: Envelope): Promise<void> {
    const { organization_id } = event;
    const subscribed = await configs.subscribed(event);
    if (subscribed.length === 0 || !(await isOnScalePlan(organization_id))) return;
    let booking: Reservation | undefined;
    try {
      const written = await log.enqueueOnce(tellingOf(event), subscribed, (drafts) => {
        booking = worker.reserve(drafts);
        return booking;
      });
      if (written.size > 0) booking?.written(written);
    } finally {
      booking?.cancel();
    }
  }

  /** Webhooks of a lapsed plan stay, and are skipped. */
  async function isOnScalePlan(organizationId: string): Promise<boolean> {
    if (onScalePlan.has(organizationId)) return true;
    const isSo = (await terms.in(organizationId).one({}))?.plan === 'scale';
    if (isSo) onScalePlan.set(organizationId, true);
    return isSo;
  }
}

function tellingOf(event: Envelope) {
  const { organization_id } = event;
  return {
    event_id: event.id,
    event_type: event.type,
    organization_id,
    document_id: aboutDocument.safeParse(event.data).data?.document.id ?? null,
    body: toBody(event),
    occurred_at: new Date(event.occurred_at),
    trace: event.trace,
  };
}
