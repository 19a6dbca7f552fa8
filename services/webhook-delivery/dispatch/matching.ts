/** Matches events with webhooks and listeners: inserts one delivery per webhook that subscribes to the type. */
import { z } from 'zod';
import { type Envelope, type EventType, id } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { createBoundedCache } from '#libs/http';
import type { Store } from '#libs/store';
import { subscriptionTerms } from '../../identity/contract.ts';
import type { LiveListeners } from '../listening/live-listeners.ts';
import { toBody } from '../rules/message.ts';
import type { ListenerEvents } from '../store/listener-events.ts';
import type { NewDeliveries, NewEvent } from '../store/new-deliveries.ts';
import type { Receiver, Receivers } from '../store/receivers.ts';
import type { Dispatcher } from './dispatcher.ts';

const documentData = z.object({ document: z.object({ id }) });

/** How long the Scale plan of an organization is cached. A missing Scale plan is not cached. */
const planCacheMs = 5_000;

/**
 * Creates the subscribers for all subscribable event types. The dispatcher of this process inserts the
 * deliveries and sends them. The event log detects repeated events; an event that nobody gets is not stored.
 */
export function matchingSubscribers(
  types: readonly EventType[],
  {
    store,
    receivers,
    newDeliveries,
    dispatcher,
    liveListeners,
    listenerEvents,
  }: {
    store: Pick<Store, 'read'>;
    receivers: Pick<Receivers, 'findSubscribed'>;
    newDeliveries: Pick<NewDeliveries, 'insertEvent'>;
    dispatcher: Pick<Dispatcher, 'insertAndDeliver'>;
    liveListeners: LiveListeners;
    listenerEvents: Pick<ListenerEvents, 'add'>;
  },
): Subscriber[] {
  const terms = store.read(subscriptionTerms);
  const onScalePlan = createBoundedCache<string, true>(10_000, planCacheMs);
  return types.map((type) => on(type, match));

  async function match(event: Envelope): Promise<void> {
    const [recipients, listenerIds] = await Promise.all([
      receivers.findSubscribed(event),
      liveListeners.find(event),
    ]);
    if (recipients.length + listenerIds.length === 0) return;
    if (!(await isOnScalePlan(event.organization_id))) return;
    const newEvent = toNewEvent(event);
    await Promise.all([deliver(newEvent, recipients), listenerEvents.add(newEvent, listenerIds)]);
  }

  async function deliver(event: NewEvent, recipients: readonly Receiver[]): Promise<void> {
    if (recipients.length === 0) return;
    const ids = recipients.map(({ id }) => id);
    const rows = await newDeliveries.insertEvent(event, ids);
    if (rows.length > 0) await dispatcher.insertAndDeliver({ event, rows, recipients });
  }

  /** Webhooks stay when the Scale plan ends, but they receive no events. */
  async function isOnScalePlan(organizationId: string): Promise<boolean> {
    if (onScalePlan.has(organizationId)) return true;
    const isScale = (await terms.in(organizationId).one({}))?.plan === 'scale';
    if (isScale) onScalePlan.set(organizationId, true);
    return isScale;
  }
}

function toNewEvent(event: Envelope): NewEvent {
  const { organization_id } = event;
  return {
    event_id: event.id,
    event_type: event.type,
    organization_id,
    document_id: documentData.safeParse(event.data).data?.document.id ?? null,
    body: toBody(event),
    occurred_at: new Date(event.occurred_at),
    trace: event.trace,
  };
}
