/** Matches events with webhooks: inserts one delivery per active webhook that subscribes to the type. */
import { z } from 'zod';
import { type Envelope, type EventType, id } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { createBoundedCache } from '#libs/http';
import type { Store } from '#libs/store';
import { subscriptionTerms } from '../../identity/contract.ts';
import { toBody } from '../rules/message.ts';
import type { NewDeliveries, NewEvent } from '../store/new-deliveries.ts';
import type { Receivers } from '../store/receivers.ts';
import type { Dispatcher } from './dispatcher.ts';

const documentData = z.object({ document: z.object({ id }) });

/** How long the Scale plan of an organization is cached. A missing Scale plan is not cached. */
const planCacheMs = 5_000;

/**
 * Creates the subscribers for all subscribable event types. The dispatcher of this process inserts the
 * deliveries and sends them. The event log detects repeated events; an event without matching webhooks is not stored.
 */
export function matchingSubscribers(
  types: readonly EventType[],
  {
    store,
    receivers,
    newDeliveries,
    dispatcher,
  }: {
    store: Pick<Store, 'read'>;
    receivers: Pick<Receivers, 'findSubscribed'>;
    newDeliveries: Pick<NewDeliveries, 'insertEvent'>;
    dispatcher: Pick<Dispatcher, 'insertAndDeliver'>;
  },
): Subscriber[] {
  const terms = store.read(subscriptionTerms);
  const onScalePlan = createBoundedCache<string, true>(10_000, planCacheMs);
  return types.map((type) => on(type, match));

  async function match(event: Envelope): Promise<void> {
    const { organization_id } = event;
    const recipients = await receivers.findSubscribed(event);
    if (recipients.length === 0 || !(await isOnScalePlan(organization_id))) return;
    const newEvent = toNewEvent(event);
    const rows = await newDeliveries.insertEvent(
      newEvent,
      recipients.map(({ id }) => id),
    );
    if (rows.length > 0) await dispatcher.insertAndDeliver({ event: newEvent, rows, recipients });
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
