/** Handlers that create, list, get, update and delete webhooks. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { InvalidRequest, newId, parseCursor, Secret } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import type { Store, Transaction } from '#libs/store';
import type { StorageQuota } from '../../identity/storage-quota.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  maxWebhooks,
  TooManyWebhooks,
  updateWebhook,
  WebhookCreated,
  WebhookRemoved,
  WebhookUpdated,
} from '../contract.ts';
import { restartsFailureCount } from '../rules/endpoint-health.ts';
import { formatSecret } from '../rules/signature.ts';
import type { ConfigRow } from '../store/collections.ts';
import type { Configs } from '../store/configs.ts';
import type { WaitingDeliveries } from '../store/waiting-deliveries.ts';
import type { Sender } from '../transport/sender.ts';
import { getConfig } from './lookup.ts';
import { toWebhook } from './presenters.ts';

const position = z.tuple([z.uuid()]);

/** Dependencies of the webhook handlers. */
export interface SubscribingDeps {
  store: Pick<Store, 'respond' | 'transact' | 'withLock'>;
  configs: Configs;
  waiting: Pick<WaitingDeliveries, 'failWaiting' | 'resume'>;
  sender: Pick<Sender, 'checkTarget'>;
  storageQuota: StorageQuota;
  now: () => Date;
  onError(message: string, error: unknown): void;
}

/** Creates the handlers of the operations on webhooks, except the rotation of secrets. */
export function webhookHandlers(deps: SubscribingDeps) {
  const { store, configs, waiting, sender, storageQuota, now, onError } = deps;
  return [
    handle(createWebhook, async ({ actor, body, call }) => {
      call.audit({ host: getHost(body.url), event_types: body.event_types });
      await rejectBadTarget(body.url);
      const secret = new Secret(formatSecret(randomBytes(32)));
      const create = async (transactionActor: typeof actor & { tx: Transaction }) => {
        if ((await configs.count(transactionActor)) >= maxWebhooks) throw TooManyWebhooks();
        await storageQuota.claim(transactionActor, 'webhooks', () => configs.count(transactionActor));
        const row = await configs.insert(transactionActor, { ...body, secret });
        call.audit({ webhook_id: row._id });
        transactionActor.tx.publish(WebhookCreated, { webhook_id: row._id, ...toLoggedTarget(row) });
        return { ...toWebhook(row), secret: secret.reveal() };
      };
      // two replicas may exceed the limit by one
      return store.withLock(actor.organization_id, () => store.respond(actor, create));
    }),

    handle(listWebhooks, async ({ actor, query: { limit, cursor } }) => {
      const [after] = parseCursor(cursor, position) ?? [];
      const found = await configs.list(actor, { after, limit: limit + 1 });
      return toPage({ found, limit, toItem: toWebhook, position: ({ _id }) => [_id] });
    }),

    handle(getWebhook, async ({ actor, params }) =>
      toWebhook(await getConfig(configs, actor, params.config_id)),
    ),

    handle(updateWebhook, async ({ actor, params, body, call, authorize }) => {
      const { url, is_active, event_types } = body;
      const host = url === undefined ? undefined : getHost(url);
      call.audit({ webhook_id: params.config_id, changed: Object.keys(body), host, event_types, is_active });
      if (url !== undefined) await rejectBadTarget(url);
      const { updated, restarts } = await store.transact(actor, async (tx) => {
        const config = await getConfig(configs, { ...actor, tx }, params.config_id);
        authorize(config);
        const restarts = restartsFailureCount(config, body);
        const restart = restarts && { failures_counted_from: now(), breaker_generation: newId() };
        const updated = await configs.update({ ...actor, tx }, config, { ...body, ...restart });
        const changed = listChanges(config, updated);
        const fields = { before: toLoggedTarget(config), after: toLoggedTarget(updated) };
        if (changed.length > 0) tx.publish(WebhookUpdated, { webhook_id: config._id, changed, ...fields });
        return { updated, restarts };
      });
      if (restarts && updated.is_active) await resumeDeliveries(updated._id);
      return toWebhook(updated);
    }),

    handle(deleteWebhook, async ({ actor, params: { config_id }, call, authorize }) => {
      call.audit({ webhook_id: config_id });
      await store.transact(actor, async (tx) => {
        const config = await getConfig(configs, { ...actor, tx }, config_id);
        authorize(config);
        await configs.delete({ ...actor, tx }, config_id);
        tx.publish(WebhookRemoved, { webhook_id: config_id, ...toLoggedTarget(config) });
        await waiting.failWaiting(config_id, tx);
      });
      // a retry that was scheduled during the transaction; if this fails, it fails when it is due
      await waiting.failWaiting(config_id).catch(() => undefined);
      return undefined;
    }),
  ];

  /**
   * Resumes deliveries that wait for a circuit breaker. Does not throw, because the change is committed: after an
   * error, they wait until the end of the pause. Not for inactive webhooks, whose deliveries would fail.
   */
  async function resumeDeliveries(id: string): Promise<void> {
    try {
      await waiting.resume(id);
    } catch (error) {
      onError(`Could not resume the deliveries of webhook ${id}`, error);
    }
  }

  /** Throws `InvalidRequest` if deliveries to this URL would be blocked now. */
  async function rejectBadTarget(url: string): Promise<void> {
    const message = await sender.checkTarget(url);
    if (message) throw InvalidRequest(undefined, { extra: { errors: [{ path: 'body/url', message }] } });
  }
}

/** The fields of a webhook in its events. */
function toLoggedTarget({ url, event_types, is_active }: ConfigRow) {
  return { host: getHost(url), event_types: [...event_types], is_active };
}

/** The names of the fields that differ. */
function listChanges(before: ConfigRow, after: ConfigRow): string[] {
  const fields = ['name', 'url', 'event_types', 'is_active'] as const;
  return fields.filter((field) => !isDeepStrictEqual(before[field], after[field]));
}

/**
 * The security log and events store only the host of a URL, because its path and query may contain a receiver's token.
 */
function getHost(url: string): string {
  return new URL(url).host;
}
