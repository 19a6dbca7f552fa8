/** The MongoDB collections of the sharing service. Those of acknowledgements have a file of their own. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { collection, type StoredRow } from '#libs/store';
import { sealedToken } from '../views.ts';
import { acknowledgementCollections } from './acknowledgement-collections.ts';

/** The share tokens: one row for each family that has a token. */
export const shareTokens = collection('share_tokens', {
  row: z.object({
    _id: id,
    organization_id: id,
    /** The document family; all revisions of a document share one token. */
    family_id: id,
    /** SHA-256 of the token, base64url. */
    hash: z.string(),
    /** The encrypted token, because the owner may look it up again. */
    sealed: z.string(),
    /** The family's `share_epoch` when the token was created; archiving increments the family's value. */
    share_epoch: z.number(),
    created_at: z.date(),
    /** The controls of the link. Each is absent if it is not set. */
    expires_at: z.date().optional(),
    allowed_origins: z.array(z.string()).optional(),
    /** The password as `scrypt$salt$hash`. */
    password_hash: z.string().optional(),
  }),
  indexes: [
    { on: { organization_id: 1, family_id: 1 }, options: { unique: true } },
    { on: { hash: 1 }, options: { unique: true } },
  ],
  sealed: [sealedToken],
});
export type ShareTokenRow = StoredRow<typeof shareTokens>;

export const sharingCollections = [shareTokens, ...acknowledgementCollections];

/** The controls of a link: when it ends, who may frame its page, and the hash of its password. */
export type LinkControls = Pick<ShareTokenRow, (typeof controlNames)[number]>;
export const controlNames = ['expires_at', 'allowed_origins', 'password_hash'] as const;
