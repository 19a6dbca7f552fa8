/** Handlers that redeliver events: one entry of the event log, or all failed entries of a webhook. */
import { InvalidRequest } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import {
  redeliverFailedEvents,
  redeliverWebhookEvent,
  WebhookDeleted,
  WebhookInactive,
} from '../contract.ts';
import { type Requester, requireCreatorOrAdmin } from '../rules/permission.ts';
import { redeliveryBlocker } from '../rules/redelivery.ts';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';
import { toEntry } from '../store/log.ts';
import type { Redeliveries } from '../store/redeliveries.ts';

type Redeliverer = Actor & Requester;

/** Dependencies of the redelivery handlers. */
export interface RedeliveryDeps {
  store: Pick<Store, 'respond'>;
  configs: Configs;
  redeliveries: Redeliveries;
}

/** Creates the handlers of `redeliverWebhookEvent` and `redeliverFailedEvents`. */
export function redeliveryHandlers({ store, configs, redeliveries }: RedeliveryDeps) {
  return [
    handle(
      redeliverWebhookEvent,
      async ({ actor, params }) => {
        const entry = await redeliveries.getEntry(actor, params.entry_id);
        const config = await getEntryConfig(actor, entry.config_id);
        const blocker = redeliveryBlocker(entry);
        if (blocker) throw blocker;
        if (!config.is_active) throw WebhookInactive();
        return store.respond(actor, async (transactionActor) =>
          toEntry(await redeliveries.redeliver(transactionActor, entry)),
        );
      },
      {
        async authorizeReplay({ actor, params }) {
          const entry = await redeliveries.getEntry(actor, params.entry_id);
          await getEntryConfig(actor, entry.config_id);
        },
      },
    ),

    handle(
      redeliverFailedEvents,
      async ({ actor, body }) => {
        const config = await getNamedConfig(actor, body.config_id);
        if (!config.is_active) throw WebhookInactive();
        return redeliveries.redeliverFailed(actor, body, (count) => ({ count }));
      },
      {
        async authorizeReplay({ actor, body }) {
          await getNamedConfig(actor, body.config_id);
        },
      },
    ),
  ];

  /**
   * Returns the webhook of an entry if the actor may redeliver to it; throws `WebhookDeleted` or `Forbidden`.
   */
  async function getEntryConfig(actor: Redeliverer, id: string): Promise<ConfigRow> {
    const config = await configs.find(actor, id);
    if (!config) throw WebhookDeleted();
    return assertAllowed(actor, config);
  }

  /**
   * Returns the webhook named in a body if the actor may redeliver to it; throws `InvalidRequest` or
   * `Forbidden`.
   */
  async function getNamedConfig(actor: Redeliverer, id: string): Promise<ConfigRow> {
    const config = await configs.find(actor, id);
    if (config) return assertAllowed(actor, config);
    const errors = [{ path: 'body/config_id', message: 'The webhook does not exist' }];
    throw InvalidRequest(undefined, { extra: { errors } });
  }
}

function assertAllowed(actor: Requester, config: ConfigRow): ConfigRow {
  const problem = requireCreatorOrAdmin(actor, 'redeliver events')(config);
  if (problem) throw problem;
  return config;
}
