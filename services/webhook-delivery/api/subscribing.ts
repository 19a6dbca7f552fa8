/** Handlers that create, list, get, update and delete webhooks. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { InvalidRequest, parseCursor, Secret } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, updateWebhook } from '../contract.ts';
import { requireCreatorOrAdmin } from '../rules/permission.ts';
import { formatSecret } from '../rules/signature.ts';
import { type Configs, toWebhook } from '../store/configs.ts';
import type { Sender } from '../transport/sender.ts';

const position = z.tuple([z.uuid()]);

/** Creates the handlers of the operations on webhooks, except the rotation of secrets. */
export function webhookHandlers({
  configs,
  sender,
}: {
  configs: Configs;
  sender: Pick<Sender, 'checkTarget'>;
}) {
  return [
    handle(createWebhook, async ({ actor, body, call }) => {
      call.audit({ host: getHost(body.url), event_types: body.event_types });
      await rejectBadTarget(body.url);
      const secret = new Secret(formatSecret(randomBytes(32)));
      return configs.create(actor, { ...body, secret }, (row) => {
        call.audit({ webhook_id: row._id });
        return { ...toWebhook(row), secret: secret.reveal() };
      });
    }),

    handle(listWebhooks, async ({ actor, query: { limit, cursor } }) => {
      const [after] = parseCursor(cursor, position) ?? [];
      const found = await configs.list(actor, { after, limit: limit + 1 });
      return toPage({ found, limit, toItem: toWebhook, position: ({ _id }) => [_id] });
    }),

    handle(getWebhook, async ({ actor, params }) => toWebhook(await configs.get(actor, params.config_id))),

    handle(updateWebhook, async ({ actor, params, body, call }) => {
      const { url, is_active, event_types } = body;
      const host = url === undefined ? undefined : getHost(url);
      call.audit({ webhook_id: params.config_id, changed: Object.keys(body), host, event_types, is_active });
      if (body.url !== undefined) await rejectBadTarget(body.url);
      const authorize = requireCreatorOrAdmin(actor, 'update it');
      return toWebhook(await configs.update(actor, params.config_id, body, authorize));
    }),

    handle(deleteWebhook, async ({ actor, params, call }) => {
      call.audit({ webhook_id: params.config_id });
      await configs.delete(actor, params.config_id, requireCreatorOrAdmin(actor, 'delete it'));
      return undefined;
    }),
  ];

  /** Throws `InvalidRequest` if deliveries to this URL would be blocked now. */
  async function rejectBadTarget(url: string): Promise<void> {
    const message = await sender.checkTarget(url);
    if (message) throw InvalidRequest(undefined, { extra: { errors: [{ path: 'body/url', message }] } });
  }
}

/**
 * The security log stores only the host of a URL, because its path and query may contain a receiver's token.
 */
function getHost(url: string): string {
  return new URL(url).host;
}
