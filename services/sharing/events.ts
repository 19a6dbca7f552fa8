/** The events that sharing publishes about public links. They are internal: webhooks cannot subscribe to them. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';

/** A public link got its token. */
export const ShareTokenCreated = event('share_token.created', {
  description: 'A public link of a document was created, or its token was replaced.',
  data: z.strictObject({ document_id: id, replaced: z.boolean() }),
});

const controls = z.strictObject({
  expires_at: timestamp.nullable(),
  has_password: z.boolean(),
  allowed_origins: z.array(z.string()).nullable(),
});

/** The controls of a public link changed. Never holds a password. */
export const ShareTokenUpdated = event('share_token.updated', {
  description: 'The expiry, the password or the allowed origins of a public link changed.',
  data: z.strictObject({
    document_id: id,
    changed: z.array(z.enum(['expires_at', 'password', 'allowed_origins'])),
    before: controls,
    after: controls,
  }),
});

/** A public link was deleted. Archiving a document ends its link without this event. */
export const ShareTokenDeleted = event('share_token.deleted', {
  description: 'The public link of a document was deleted.',
  data: z.strictObject({ document_id: id }),
});
