/** Rotating: a webhook gets a new secret, and the old one signs beside it for a while. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { handle } from '#libs/http';
import { rotateWebhookSecret } from './contract.ts';
import { type Requester, requireCreatorOrAdmin } from './rules/permission.ts';
import { parseSecret } from './rules/signature.ts';
import { type Configs, toWebhook } from './store/configs.ts';

const standardOverlapSeconds = 86_400;

/** The operation on secrets. */
export function rotating({ configs }: { configs: Configs }) {
  const refuses = (actor: Requester) => requireCreatorOrAdmin(actor, 'rotate the secret of a webhook');
  return [
    handle(
      rotateWebhookSecret,
      async ({ actor, params, body, call }) => {
        const secret = new Secret(parseSecret(randomBytes(32)));
        const overlapSeconds = body?.overlap_seconds ?? standardOverlapSeconds;
        call.audit({ webhook_id: params.config_id, overlap_seconds: overlapSeconds });
        const rotation = { secret, overlapSeconds };
        return configs.rotate(actor, params.config_id, rotation, refuses(actor), (row) => {
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
          const refused = refuses(actor)(await configs.one(actor, params.config_id));
          if (refused) throw refused;
        },
      },
    ),
  ];
}
