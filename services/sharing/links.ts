/** Links: making, showing and ending the public link of a document. */
import { Forbidden, NotFound } from '#libs/contract';
import { handle, type Route } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import type { MemberPrincipal } from '../identity/contract.ts';
import {
  createShareToken,
  DocumentNotPublished,
  deleteShareToken,
  getShareToken,
  type ShareToken,
} from './contract.ts';
import { isLive, isShareable, mayShare } from './rules.ts';
import type { DocumentState, NewToken, SharingStore } from './store.ts';

/** What links need. */
export interface Links {
  store: Pick<Store, 'respond'>;
  sharing: SharingStore;
  now: () => Date;
  /** A new random token. */
  newToken: () => string;
  /** Where people reach the application; the start of public links. */
  appUrl: string;
}

/** The operations on the link of a document. */
export function links({ store, sharing, now, newToken, appUrl }: Links): Route[] {
  return [
    handle(
      createShareToken,
      async ({ actor, params, body }) => {
        const document = await foundForSharing(actor, params.doc_id);
        if (!isShareable(document)) throw DocumentNotPublished();
        // read before the transaction: of two that replace at once, the second takes the token of the first
        const replaced = body?.replace ? await sharing.find(actor, document.family_id) : undefined;
        return store.respond(actor, async (within) =>
          shown(actor, document, await tokenFor(within, document, replaced?.hash)),
        );
      },
      {
        async authorizeReplay({ actor, params }) {
          await foundForSharing(actor, params.doc_id);
        },
      },
    ),

    handle(getShareToken, async ({ actor, params }) => {
      const document = await found(actor, params.doc_id);
      if (!isShareable(document)) return null;
      const held = await sharing.find(actor, document.family_id);
      return held && isLive(held, document) ? shown(actor, document, held) : null;
    }),

    handle(deleteShareToken, async ({ actor, params }) => {
      const document = await foundForSharing(actor, params.doc_id);
      // a draft shares its family with the published version, whose link is not the draft's to end
      if (isShareable(document)) await sharing.delete(actor, document.family_id);
      return undefined;
    }),
  ];

  async function found(actor: Actor, id: string): Promise<DocumentState> {
    const document = await sharing.document(actor.organization_id, id);
    if (!document) throw NotFound();
    return document;
  }

  async function foundForSharing(actor: MemberPrincipal, id: string): Promise<DocumentState> {
    const document = await found(actor, id);
    if (mayShare(actor, document)) return document;
    throw Forbidden('Only the owner of the document or an admin may share it.');
  }

  /** The family's one token: the one that is there unless it is to be replaced, or a new one. */
  async function tokenFor(
    within: Actor,
    document: DocumentState,
    replaced: string | undefined,
  ): Promise<NewToken> {
    const { family_id, share_epoch } = document;
    const held = await sharing.find(within, family_id);
    if (held && isLive(held, document) && held.hash !== replaced) return held;
    const made = { token: newToken(), share_epoch, created_at: now() };
    await sharing.save(within, family_id, made);
    return made;
  }

  async function shown(actor: Actor, document: DocumentState, held: NewToken): Promise<ShareToken> {
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
