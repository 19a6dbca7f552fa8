/** Redelivering: what was sent before, or failed, is sent again by command. */
import { InvalidRequest } from '#libs/contract';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { redeliverFailedEvents, redeliverWebhookEvent, WebhookDeleted, WebhookInactive } from './contract.ts';
import { type Requester, requireCreatorOrAdmin } from './rules/permission.ts';
import { redeliveryBlocker } from './rules/redelivery.ts';
import type { ConfigRow } from './store/collections.ts';
import type { Configs } from './store/configs.ts';
import { toEntry } from './store/log.ts';
import type { Redeliveries } from './store/redeliveries.ts';

type Redeliverer = Actor & Requester;

/** What redelivering needs. */
export interface Redelivering {
  store: Pick<Store, 'respond'>;
  configs: Configs;
  repeats: Redeliveries;
}

/** The operations that send again. */
export function redelivering({ store, configs, repeats }: Redelivering) {
  return [
    handle(
      redeliverWebhookEvent,
      async ({ actor, params }) => {
        const entry = await repeats.entry(actor, params.entry_id);
        const config = await configOf(actor, entry.config_id);
        const hindrance = redeliveryBlocker(entry);
        if (hindrance) throw hindrance;
        if (!config.is_active) throw WebhookInactive();
        return store.respond(actor, async (within) => toEntry(await repeats.again(within, entry)));
      },
      {
        async authorizeReplay({ actor, params }) {
          const entry = await repeats.entry(actor, params.entry_id);
          await configOf(actor, entry.config_id);
        },
      },
    ),

    handle(
      redeliverFailedEvents,
      async ({ actor, body }) => {
        const config = await configNamed(actor, body.config_id);
        if (!config.is_active) throw WebhookInactive();
        return repeats.failed(actor, body, (count) => ({ count }));
      },
      {
        async authorizeReplay({ actor, body }) {
          await configNamed(actor, body.config_id);
        },
      },
    ),
  ];

  /** The webhook of an entry, for who may send to it again. */
  async function configOf(actor: Redeliverer, id: string): Promise<ConfigRow> {
    const config = await configs.known(actor, id);
    if (!config) throw WebhookDeleted();
    return allowed(actor, config);
  }

  /** The webhook that a body names, for who may send to it again. */
  async function configNamed(actor: Redeliverer, id: string): Promise<ConfigRow> {
    const config = await configs.known(actor, id);
    if (config) return allowed(actor, config);
    const errors = [{ path: 'body/config_id', message: 'There is no such webhook' }];
    throw InvalidRequest(undefined, { extra: { errors } });
  }
}

function allowed(actor: Requester, config: ConfigRow): ConfigRow {
  const refused = requireCreatorOrAdmin(actor, 'send again what a webhook was sent')(config);
  if (refused) throw refused;
  return config;
}
