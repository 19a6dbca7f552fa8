/** Handler that rotates the secret of a webhook. Older secrets keep signing for an overlap period. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { handle } from '#libs/http';
import { rotateWebhookSecret } from '../contract.ts';
import { type Requester, requireCreatorOrAdmin } from '../rules/permission.ts';
import { formatSecret } from '../rules/signature.ts';
import { type Configs, toWebhook } from '../store/configs.ts';

const defaultOverlapSeconds = 86_400;

/** Creates the handler of `rotateWebhookSecret`. */
export function secretRotationHandlers({ configs }: { configs: Configs }) {
  const authorizeAs = (actor: Requester) => requireCreatorOrAdmin(actor, 'rotate its secret');
  return [
    handle(
      rotateWebhookSecret,
      async ({ actor, params, body, call }) => {
        const secret = new Secret(formatSecret(randomBytes(32)));
        const overlapSeconds = body?.overlap_seconds ?? defaultOverlapSeconds;
        call.audit({ webhook_id: params.config_id, overlap_seconds: overlapSeconds });
        const rotation = { secret, overlapSeconds };
        return configs.rotateSecret(actor, params.config_id, rotation, authorizeAs(actor), (row) => {
          const ends = row.secrets.flatMap(({ until }) => until?.toISOString() ?? []);
          return {
            ...toWebhook(row),
            secret: secret.reveal(),
            older_secrets_until: ends.sort().at(-1) ?? null,
          };
        });
      },
      {
        async authorizeReplay({ actor, params }) {
          const problem = authorizeAs(actor)(await configs.get(actor, params.config_id));
          if (problem) throw problem;
        },
      },
    ),
  ];
}
