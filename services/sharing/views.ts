/** The read-only view of share tokens for other services, and the context that each token is sealed with. */
import { z } from 'zod';
import { id, view } from '#libs/contract';

/** Binds each sealed token to its family, so that it cannot be decrypted in another row. */
export const sealedToken = {
  path: 'sealed',
  context: ({ family_id }: { family_id: string }) => `share_tokens.token/${family_id}`,
};

/**
 * The share token of each family. A token no longer works if its `share_epoch` is not that of its family, or from its
 * `expires_at` on.
 */
export const shareLinks = view({
  name: 'share_links',
  collection: 'share_tokens',
  scope: 'organization_id',
  row: z.object({
    organization_id: id,
    family_id: id,
    /** The encrypted token. */
    sealed: z.string(),
    share_epoch: z.number(),
    expires_at: z.date().optional(),
  }),
  sealed: [sealedToken],
});
