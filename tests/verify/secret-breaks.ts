/** Changes that break the invariants of encrypted secrets. */
import { randomBytes } from 'node:crypto';
import { Secret } from '#libs/contract';
import { createKeyring } from '#libs/store';
import { type Breaks, change, getRows, nobody, set } from './change-rows.ts';

const otherKeyring = createKeyring(new Secret(randomBytes(32).toString('base64')));
const sealedByOther = otherKeyring.seal('secret', 'context');

/** Stores a response that another key has encrypted. */
const addResponse = (collection: string) => [
  async (db: Parameters<typeof getRows>[0]) => {
    await getRows(db, collection).insertOne({ _id: nobody, body: sealedByOther });
    return nobody;
  },
];

/** The changes of secrets by invariant. */
export const secretBreaks: Breaks = {
  'signing_keys.sealed_private': [set('signing_keys', { sealed_private: sealedByOther })],
  'webhook_configs.secrets.sealed': [
    change('webhook_configs', {}, { $push: { secrets: { sealed: sealedByOther, until: new Date() } } }),
    set('webhook_configs', { 'secrets.0.sealed': 'not sealed' }),
  ],
  'webhook_listeners.secret': [set('webhook_listeners', { secret: sealedByOther })],
  'share_tokens.sealed': [
    set('share_tokens', { sealed: sealedByOther }),
    // the context of the token is its family
    set('share_tokens', { family_id: nobody }),
  ],
  'acknowledgement_readers.sealed': [set('acknowledgement_readers', { sealed: sealedByOther })],
  'identity_idempotency.body': addResponse('identity_idempotency'),
  'documents_idempotency.body': addResponse('documents_idempotency'),
  'sharing_idempotency.body': addResponse('sharing_idempotency'),
  'export_idempotency.body': addResponse('export_idempotency'),
  'webhook_delivery_idempotency.body': addResponse('webhook_delivery_idempotency'),
};
