/** Links: making, showing and ending the public link of a document. */
import { Forbidden, NotFound, Unavailable } from '#libs/contract';
import { type Handled, handle } from '#libs/http';
import type { Acting } from '#libs/store';
import type { Asking } from '../identity/contract.ts';
import {
  createShareToken,
  DocumentNotPublished,
  deleteShareToken,
  getShareToken,
  type ShareToken,
} from './contract.ts';
import { isLive, isShareable, mayShare } from './rules.ts';
import type { DocumentState, Made, SharingStore } from './store.ts';

/** What links need. */
export interface Links {
  sharing: SharingStore;
  now: () => Date;
  /** A new random token. */
  newToken: () => string;
  /** Where people reach the application; the start of public links. */
  appUrl: string;
}

/** How often a creation looks again after another request was faster. */
const tries = 10;

/** The operations on the link of a document. */
export function links({ sharing, now, newToken, appUrl }: Links): Handled[] {
  return [
    handle(
      createShareToken,
      async ({ actor, params, body }) => {
        const document = await foundForSharing(actor, params.doc_id);
        if (!isShareable(document)) throw DocumentNotPublished();
        return shown(actor, document, await tokenFor(actor, document, body?.replace ?? false));
      },
      {
        async mayHave({ actor, params }) {
          await foundForSharing(actor, params.doc_id);
        },
      },
    ),

    handle(getShareToken, async ({ actor, params }) => {
      const document = await found(actor, params.doc_id);
      if (!isShareable(document)) return null;
      const held = await sharing.held(actor, document.family_id);
      return held && isLive(held, document) ? shown(actor, document, held) : null;
    }),

    handle(deleteShareToken, async ({ actor, params }) => {
      const document = await foundForSharing(actor, params.doc_id);
      // a draft shares its family with the published version, whose link is not the draft's to end
      if (isShareable(document)) await sharing.drop(actor, document.family_id);
      return undefined;
    }),
  ];

  async function found(actor: Acting, id: string): Promise<DocumentState> {
    const document = await sharing.document(actor.organization_id, id);
    if (!document) throw NotFound();
    return document;
  }

  async function foundForSharing(actor: Asking, id: string): Promise<DocumentState> {
    const document = await found(actor, id);
    if (mayShare(actor, document)) return document;
    throw Forbidden('Only the owner of the document or an admin may share it.');
  }

  /** The family's one token: what is there, or a new one; the loser of a race takes the winner's. */
  async function tokenFor(actor: Acting, document: DocumentState, replace: boolean): Promise<Made> {
    const { family_id, share_epoch } = document;
    let held = await sharing.held(actor, family_id);
    const refused = replace ? held?.hash : undefined;
    for (let left = tries; left > 0; left -= 1) {
      if (held && isLive(held, document) && held.hash !== refused) return held;
      const made = { token: newToken(), share_epoch, created_at: now() };
      if (await sharing.keep(actor, family_id, made, held)) return made;
      held = await sharing.held(actor, family_id);
    }
    throw Unavailable('Many requests share this document at once: try again.', {
      headers: { 'Retry-After': '1' },
    });
  }

  async function shown(actor: Acting, document: DocumentState, held: Made): Promise<ShareToken> {
    const organization = await sharing.organization(actor);
    if (!organization) throw NotFound();
    return {
      token: held.token,
      org_slug: organization.slug,
      url: `${appUrl}/embed/${organization.slug}/${held.token}`,
      document_id: document._id,
      created_at: held.created_at.toISOString(),
    };
  }
}
