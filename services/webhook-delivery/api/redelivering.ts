/** Handlers that redeliver events: one entry of the event log, or all failed entries of a webhook. */
import { InvalidRequest } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store, Transaction } from '#libs/store';
import {
  EventExpired,
  redeliverFailedEvents,
  redeliverWebhookEvent,
  WebhookDeleted,
  WebhookInactive,
} from '../contract.ts';
import { maxPerRequest, redeliveryBlocker, uniqueByEvent } from '../rules/redelivery.ts';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';
import type { Redeliveries } from '../store/redeliveries.ts';
import { toEntry } from './presenters.ts';

type Lookup = Pick<Configs, 'find'>;

/** Dependencies of the redelivery handlers. */
export interface RedeliveryDeps {
  store: Pick<Store, 'respond' | 'withLock'>;
  configs: Lookup;
  redeliveries: Redeliveries;
}

/** Creates the handlers of `redeliverWebhookEvent` and `redeliverFailedEvents`. */
export function redeliveryHandlers({ store, configs, redeliveries }: RedeliveryDeps) {
  return [
    handle(
      redeliverWebhookEvent,
      async ({ actor, params, authorize }) => {
        const entry = await redeliveries.getEntry(actor, params.entry_id);
        const config = await getEntryConfig(configs, actor, entry.config_id);
        authorize(config);
        const blocker = redeliveryBlocker(entry);
        if (blocker) throw blocker;
        if (!config.is_active) throw WebhookInactive();
        return store.respond(actor, async (_, tx) => {
          const storedIds = await redeliveries.findStoredEvents([entry.event_id], tx);
          if (!storedIds.has(entry.event_id)) throw EventExpired();
          await redeliveries.markRedelivered([entry], tx);
          const [row = entry] = await redeliveries.insert([entry], tx);
          return toEntry(row);
        });
      },
      {
        async authorizeReplay({ actor, params, authorize }) {
          const entry = await redeliveries.getEntry(actor, params.entry_id);
          authorize(await getEntryConfig(configs, actor, entry.config_id));
        },
      },
    ),

    handle(
      redeliverFailedEvents,
      async ({ actor, body, authorize }) => {
        const config = await getNamedConfig(configs, actor, body.config_id);
        authorize(config);
        if (!config.is_active) throw WebhookInactive();
        const redeliver = () =>
          store.respond(actor, (_, tx) => redeliverFailed(redeliveries, actor, body, tx));
        return store.withLock(config._id, redeliver);
      },
      {
        async authorizeReplay({ actor, body, authorize }) {
          authorize(await getNamedConfig(configs, actor, body.config_id));
        },
      },
    ),
  ];
}

/**
 * Redelivers the failed events of a webhook, each once: oldest first, at most `maxPerRequest` events. The same
 * transaction marks the old entries, so no entry is redelivered twice. Entries of an event that was already redelivered
 * or has no payload any more are only marked, so a count below `maxPerRequest` means that none is left.
 */
async function redeliverFailed(
  redeliveries: Redeliveries,
  actor: Actor,
  { config_id, since }: { config_id: string; since: Date },
  tx: Transaction,
): Promise<{ count: number }> {
  const redeliveredIds = new Set<string>();
  while (redeliveredIds.size < maxPerRequest) {
    const limit = maxPerRequest - redeliveredIds.size;
    const entries = await redeliveries.findFailed(actor, { config_id, since, limit }, tx);
    if (entries.length === 0) break;
    const eventIds = entries.map(({ event_id }) => event_id);
    const storedIds = await redeliveries.findStoredEvents(eventIds, tx);
    const redelivered = uniqueByEvent(entries).filter(
      ({ event_id }) => storedIds.has(event_id) && !redeliveredIds.has(event_id),
    );
    await redeliveries.markRedelivered(entries, tx);
    for (const { event_id } of await redeliveries.insert(redelivered, tx)) redeliveredIds.add(event_id);
  }
  return { count: redeliveredIds.size };
}

/** Returns the webhook of an entry; throws `WebhookDeleted`. */
async function getEntryConfig(configs: Lookup, actor: Actor, id: string): Promise<ConfigRow> {
  const config = await configs.find(actor, id);
  if (!config) throw WebhookDeleted();
  return config;
}

/** Returns the webhook named in a body; throws `InvalidRequest`. */
async function getNamedConfig(configs: Lookup, actor: Actor, id: string): Promise<ConfigRow> {
  const config = await configs.find(actor, id);
  if (config) return config;
  const errors = [{ path: 'body/config_id', message: 'The webhook does not exist' }];
  throw InvalidRequest(undefined, { extra: { errors } });
}
