/** Subscribing: registering, reading, changing and deleting webhooks. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, parseCursor, Secret } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from './contract.ts';
import { requireCreatorOrAdmin } from './rules/permission.ts';
import { parseSecret } from './rules/signature.ts';
import type { Sender } from './sending.ts';
import { type Configs, toWebhook } from './store/configs.ts';

const position = z.tuple([z.uuid()]);

/** The operations on webhooks. */
export function subscribing({ configs, sender }: { configs: Configs; sender: Pick<Sender, 'faultOf'> }) {
  return [
    handle(createWebhook, async ({ actor, body, call }) => {
      call.audit({ host: hostOf(body.url), event_types: body.event_types });
      await refuseTarget(body.url);
      const secret = new Secret(parseSecret(randomBytes(32)));
      return configs.add(actor, { ...body, secret }, (row) => {
        call.audit({ webhook_id: row._id });
        return { ...toWebhook(row), secret: secret.reveal() };
      });
    }),

    handle(listWebhooks, async ({ actor, query: { limit, cursor } }) => {
      const [after] = parseCursor(cursor, position) ?? [];
      const found = await configs.list(actor, { after, limit: limit + 1 });
      return toPage({ found, limit, toItem: toWebhook, position: ({ _id }) => [_id] });
    }),

    handle(getWebhook, async ({ actor, params }) => toWebhook(await configs.one(actor, params.config_id))),

    handle(updateWebhook, async ({ actor, params, body, call }) => {
      const { url, is_active, event_types } = body;
      const host = url === undefined ? undefined : hostOf(url);
      call.audit({ webhook_id: params.config_id, changed: Object.keys(body), host, event_types, is_active });
      if (body.url !== undefined) await refuseTarget(body.url);
      return toWebhook(
        await configs.change(actor, params.config_id, body, requireCreatorOrAdmin(actor, 'change a webhook')),
      );
    }),

    handle(deleteWebhook, async ({ actor, params, call }) => {
      call.audit({ webhook_id: params.config_id });
      await configs.remove(actor, params.config_id, requireCreatorOrAdmin(actor, 'delete a webhook'));
      return undefined;
    }),
  ];

  /** Rejects what deliveries could not be sent to as things are now. */
  async function refuseTarget(url: string): Promise<void> {
    const message = await sender.faultOf(url);
    if (message) throw InvalidRequest(undefined, { extra: { errors: [{ path: 'body/url', message }] } });
  }
}

/** What the security log may know of an address: its path and query can have a receiver's own token in them. */
function hostOf(url: string): string {
  return new URL(url).host;
}
