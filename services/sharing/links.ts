/** Creates, shows, changes and deletes the public link of a document. */
import { InvalidRequest, listErrors, NotFound, PreconditionFailed } from '#libs/contract';
import { handle, type Route } from '#libs/http';
import type { Actor, Store, Transaction } from '#libs/store';
import type { PasswordHasher } from '#libs/workers';
import { DocumentNotPublished } from '../documents/contract.ts';
import {
  createShareToken,
  deleteShareToken,
  getShareToken,
  type ShareToken,
  ShareTokenCreated,
  ShareTokenDeleted,
  ShareTokenUpdated,
  updateShareToken,
} from './contract.ts';
import { isLive, isShareable, toUpdateEvent } from './rules/links.ts';
import { type DocumentState, type NewToken, type SharingStore, toControls } from './store/share-tokens.ts';

/** Dependencies of the link routes. */
export interface LinkOptions {
  store: Pick<Store, 'respond' | 'transact'>;
  sharing: SharingStore;
  passwords: Pick<PasswordHasher, 'hash'>;
  now: () => Date;
  /** Returns a new random token. */
  newToken: () => string;
  /** Public URL of the application, without a trailing slash; public links start with it. */
  appUrl: string;
}

/** What must hold before the link of a document is changed. */
interface Preconditions {
  /** Throws if the actor may not do this with the document. */
  authorize?: (document: DocumentState) => void;
  /** The ETags of `If-Match`; one of them must be that of the document. */
  ifMatch?: readonly string[] | undefined;
}

/** The routes that create, get, update and delete the share token of a document. */
export function linkRoutes({ store, sharing, passwords, now, newToken, appUrl }: LinkOptions): Route[] {
  return [
    handle(
      createShareToken,
      async ({ actor, params, body, call: { ifMatch }, authorize }) => {
        const document = await getDocument(actor, params.doc_id, { authorize, ifMatch });
        if (!isShareable(document)) throw DocumentNotPublished();
        // read before the transaction: of two concurrent replacements the second returns the first one's
        // token
        const replaced = body?.replace ? await sharing.find(actor, document.family_id) : undefined;
        return store.respond(actor, async (within) =>
          toShareToken(actor, document, await findOrCreateToken(within, document, replaced?.hash)),
        );
      },
      {
        async authorizeReplay({ actor, params, authorize }) {
          await getDocument(actor, params.doc_id, { authorize });
        },
      },
    ),

    handle(getShareToken, async ({ actor, params }) => {
      const document = await getDocument(actor, params.doc_id);
      if (!isShareable(document)) return null;
      const token = await sharing.find(actor, document.family_id);
      return token && isLive(token, document) ? toShareToken(actor, document, token) : null;
    }),

    handle(updateShareToken, async ({ actor, params, body, call: { ifMatch }, authorize }) => {
      const document = await getDocument(actor, params.doc_id, { authorize, ifMatch });
      const { expires_at: end, password, ...others } = body;
      const changes = {
        ...others,
        ...(end !== undefined && { expires_at: toFutureTime(end) }),
        ...(password !== undefined && { password_hash: password && (await passwords.hash(password)) }),
      };
      const updated =
        isShareable(document) &&
        (await store.transact(actor, async (tx) => {
          const found = await sharing.updateControls({ ...actor, tx }, document, changes);
          const event = found && toUpdateEvent(document._id, found);
          if (event && event.changed.length > 0) tx.publish(ShareTokenUpdated, event);
          return found?.after;
        }));
      if (!updated) throw NotFound('This document has no public link.');
      return toShareToken(actor, document, updated);
    }),

    handle(deleteShareToken, async ({ actor, params, call: { ifMatch }, authorize }) => {
      const document = await getDocument(actor, params.doc_id, { authorize, ifMatch });
      // a draft has the same family as the published version and must not delete that version's link
      if (isShareable(document))
        await store.transact(actor, async (tx) => {
          if (await sharing.delete({ ...actor, tx }, document.family_id))
            tx.publish(ShareTokenDeleted, { document_id: document._id });
        });
      return undefined;
    }),
  ];

  async function getDocument(
    actor: Actor,
    id: string,
    { authorize, ifMatch }: Preconditions = {},
  ): Promise<DocumentState> {
    const document = await sharing.document(actor.organization_id, id);
    if (!document) throw NotFound();
    authorize?.(document);
    if (ifMatch && !ifMatch.includes(String(document.row_version))) throw PreconditionFailed();
    return document;
  }

  /** The family's token: the stored one if it is valid and its hash is not `replacedHash`, else a new one. */
  async function findOrCreateToken(
    within: Actor & { tx: Transaction },
    document: DocumentState,
    replacedHash: string | undefined,
  ): Promise<NewToken> {
    const { family_id, share_epoch } = document;
    const stored = await sharing.find(within, family_id);
    if (stored && isLive(stored, document) && stored.hash !== replacedHash) return stored;
    // a link that archiving ended is over with its controls; its row may still exist
    const controls = stored && isLive(stored, document) ? toControls(stored) : {};
    const created = { token: newToken(), share_epoch, created_at: now(), ...controls };
    await sharing.save(within, family_id, created);
    const replaced = stored !== undefined && isLive(stored, document);
    within.tx.publish(ShareTokenCreated, { document_id: document._id, replaced });
    return created;
  }

  function toFutureTime(text: string | null): Date | null {
    const time = text === null ? null : new Date(text);
    if (time === null || time > now()) return time;
    throw listErrors(InvalidRequest, [{ path: 'body/expires_at', message: 'Must be in the future' }]);
  }

  async function toShareToken(actor: Actor, document: DocumentState, token: NewToken): Promise<ShareToken> {
    const organization = await sharing.organization(actor);
    if (!organization) throw NotFound();
    return {
      token: token.token,
      org_slug: organization.slug,
      url: `${appUrl}/embed/${organization.slug}/${token.token}`,
      document_id: document._id,
      created_at: token.created_at.toISOString(),
      expires_at: token.expires_at?.toISOString() ?? null,
      has_password: token.password_hash !== undefined,
      allowed_origins: token.allowed_origins ?? null,
    };
  }
}
