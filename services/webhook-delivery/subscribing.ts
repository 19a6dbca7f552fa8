/** Subscribing: registering, listing and deleting webhooks. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Forbidden, InvalidRequest, positionOf, Secret } from '#libs/contract';
import { handle, pageOf } from '#libs/http';
import { deleteWebhook, listWebhooks, registerWebhook } from './contract.ts';
import { canChange } from './rules/permission.ts';
import { secretFrom } from './rules/signature.ts';
import type { Sender } from './sending.ts';
import { type Configs, webhookOf } from './store/configs.ts';

const position = z.tuple([z.uuid()]);

/** The operations on webhooks. */
export function subscribing({ configs, sender }: { configs: Configs; sender: Pick<Sender, 'faultOf'> }) {
  return [
    handle(registerWebhook, async ({ actor, body }) => {
      const message = await sender.faultOf(body.url);
      if (message) throw InvalidRequest(undefined, { extra: { errors: [{ path: 'body/url', message }] } });
      const secret = new Secret(secretFrom(randomBytes(32)));
      const row = await configs.add(actor, { ...body, secret });
      return { ...webhookOf(row), secret: secret.reveal() };
    }),

    handle(listWebhooks, async ({ actor, query: { limit, cursor } }) => {
      const [after] = positionOf(cursor, position) ?? [];
      const found = await configs.list(actor, { after, limit: limit + 1 });
      return pageOf({ found, limit, show: webhookOf, position: ({ _id }) => [_id] });
    }),

    handle(deleteWebhook, async ({ actor, params }) => {
      await configs.remove(actor, params.config_id, (config) =>
        canChange(actor, config)
          ? undefined
          : Forbidden('Only its creator or an admin may delete a webhook.'),
      );
      return undefined;
    }),
  ];
}
