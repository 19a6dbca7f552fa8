/** Matching: an event becomes one delivery for each active webhook that subscribes to it. */
import { z } from 'zod';
import { type Envelope, type EventType, id } from '#libs/contract';
import { type Listener, on } from '#libs/events';
import type { Store } from '#libs/store';
import { subscriptionTerms } from '../identity/contract.ts';
import { bodyOf } from './rules/message.ts';
import type { Candidate } from './rules/slots.ts';
import type { Configs } from './store/configs.ts';
import type { EventLog } from './store/log.ts';

const aboutDocument = z.object({ document: z.object({ id }) });

/** Listeners for subscribable events; `ring` is told what is to be delivered once it is written. */
export function matching(
  types: readonly EventType[],
  of: {
    store: Pick<Store, 'once' | 'read'>;
    configs: Configs;
    log: EventLog;
    ring: (rows: readonly Candidate[]) => void;
  },
): Listener[] {
  const terms = of.store.read(subscriptionTerms);
  return types.map((type) => on(type, match));

  async function match(event: Envelope): Promise<void> {
    const { organization_id } = event;
    let due: readonly Candidate[] = [];
    await of.store.once(event, async (tx) => {
      due = [];
      const ids = await of.configs.subscribed(organization_id, event.type, tx);
      if (ids.length === 0 || !(await isOnScalePlan(organization_id))) return;
      due = await of.log.enqueue(tellingOf(event), ids, tx);
    });
    if (due.length > 0) of.ring(due);
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
  };
}
