/** Handler that rotates the secret of a webhook. Older secrets keep signing for an overlap period. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { handle } from '#libs/http';
import type { Store, Transaction } from '#libs/store';
import { rotateWebhookSecret, TooManySecrets, WebhookSecretRotated } from '../contract.ts';
import { maxSecrets, rotateSecrets } from '../rules/secrets.ts';
import { formatSecret } from '../rules/signature.ts';
import type { Configs } from '../store/configs.ts';
import { getConfig } from './lookup.ts';
import { toWebhook } from './presenters.ts';

const defaultOverlapSeconds = 86_400;

/** Creates the handler of `rotateWebhookSecret`. */
export function secretRotationHandlers({
  store,
  configs,
  now,
}: {
  store: Pick<Store, 'respond' | 'withLock'>;
  configs: Pick<Configs, 'find' | 'update' | 'sealSecret'>;
  now: () => Date;
}) {
  return [
    handle(
      rotateWebhookSecret,
      async ({ actor, params, body, call, authorize }) => {
        const secret = new Secret(formatSecret(randomBytes(32)));
        const overlapSeconds = body?.overlap_seconds ?? defaultOverlapSeconds;
        call.audit({ webhook_id: params.config_id, overlap_seconds: overlapSeconds });
        const rotate = async (transactionActor: typeof actor & { tx: Transaction }) => {
          const config = await getConfig(configs, transactionActor, params.config_id);
          authorize(config);
          const at = now();
          const secrets = rotateSecrets(config.secrets, configs.sealSecret(secret), { at, overlapSeconds });
          if (secrets.length > maxSecrets) throw TooManySecrets();
          const row = await configs.update(transactionActor, config, { secrets });
          const ends = secrets.flatMap(({ until }) => until?.toISOString() ?? []);
          const older_secrets_until = ends.sort().at(-1) ?? null;
          transactionActor.tx.publish(WebhookSecretRotated, { webhook_id: config._id, older_secrets_until });
          return { ...toWebhook(row), secret: secret.reveal(), older_secrets_until };
        };
        return store.withLock(params.config_id, () => store.respond(actor, rotate));
      },
      {
        async authorizeReplay({ actor, params, authorize }) {
          authorize(await getConfig(configs, actor, params.config_id));
        },
      },
    ),
  ];
}
