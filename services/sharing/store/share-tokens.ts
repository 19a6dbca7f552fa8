/** Stores share tokens in MongoDB and reads the views of documents and organizations. */
import type mongoose from 'mongoose';
import { newId, type RowOf } from '#libs/contract';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import {
  assetBytes,
  assetDetails,
  documentNodes,
  documentStates,
  toAssetKey,
} from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { hashToken } from '../rules/links.ts';
import { sealedToken } from '../views.ts';
import { controlNames, type LinkControls, type ShareTokenRow, shareTokens } from './collections.ts';
import { findPublicLink } from './public-links.ts';

export type DocumentState = RowOf<typeof documentStates>;
export type NodeRow = RowOf<typeof documentNodes>;

/** Controls to change: null removes one, absent ones do not change. */
export type ControlChanges = { [Name in keyof LinkControls]?: LinkControls[Name] | null };

/** A decrypted token with the fields of its row. */
export type StoredToken = { token: string } & LinkControls &
  Pick<ShareTokenRow, 'hash' | 'share_epoch' | 'created_at'>;

/** A token to store; the store computes its hash. */
export type NewToken = Omit<StoredToken, 'hash'>;

export type SharingStore = ReturnType<typeof sharingStore>;

/** Creates the repository of the sharing service; it seals tokens before it stores them. */
export function sharingStore(store: Store) {
  const tokens = store.sealing(sealedToken);
  const rows = store.rows(shareTokens);
  const organizations = store.read(organizationProfiles).unscoped();
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);
  const assets = { details: store.read(assetDetails), bytes: store.read(assetBytes) };
  const toStoredToken = (row: ShareTokenRow): StoredToken => {
    const { hash, share_epoch, created_at } = row;
    return { token: tokens.open(row.sealed, row), hash, share_epoch, created_at, ...toControls(row) };
  };

  return {
    /** A document of the organization in any state; undefined if it does not exist. */
    document: (organization_id: string, id: string) => states.in(organization_id).one({ _id: id }),

    /** The nodes of a document, unsorted. */
    nodes: (document_id: string) => nodes.in(document_id).many({}),

    /** Whether a node of a document references an asset, or any asset. */
    async referencesAsset(document_id: string, id?: string): Promise<boolean> {
      const asset_ids = id ?? { $exists: true };
      return (await nodes.in(document_id).one({ asset_ids })) !== undefined;
    },

    /** The sizes of assets of the organization, by id. */
    async assetSizes(organization_id: string, ids: readonly string[]) {
      const keys = ids.map((id) => toAssetKey(organization_id, id));
      const found = await assets.details.in(organization_id).many({ _id: { $in: keys } });
      return new Map(found.map(({ asset_id, width, height }) => [asset_id, { width, height }]));
    },

    /** An asset of the organization with its bytes; undefined if it does not exist. */
    assetFile: (organization_id: string, id: string) =>
      assets.bytes.in(organization_id).one({ _id: toAssetKey(organization_id, id) }),

    organization: ({ organization_id }: Actor) => organizations.one({ _id: organization_id }),

    /** The token of a family, valid or not; undefined if it has none. */
    async find({ organization_id, tx }: Actor, family_id: string): Promise<StoredToken | undefined> {
      const row = await rows
        .findOne({ organization_id, family_id })
        .session(tx?.session ?? null)
        .lean();
      return row ? toStoredToken(row) : undefined;
    },

    findLink: findPublicLink(store),

    /** Stores a token with its controls and replaces the family's previous one. */
    async save({ organization_id, tx }: Actor, family_id: string, newToken: NewToken): Promise<void> {
      const { token, share_epoch, created_at } = newToken;
      const sealed = tokens.seal(token, { family_id });
      const controls = toUpdate(
        Object.fromEntries(controlNames.map((name) => [name, newToken[name] ?? null])),
      );
      const change = { hash: hashToken(token), sealed, share_epoch, created_at, ...controls.$set };
      const update = { ...controls, $set: change, $setOnInsert: { _id: newId() } };
      const options = { upsert: true, ...toSessionOptions(tx) };
      await rows.updateOne({ organization_id, family_id }, update, options);
    },

    /**
     * Changes controls of the token of a document's family and returns it as it was and as it is. Changes nothing and
     * returns undefined if there is no valid token at this moment.
     */
    async updateControls(
      { organization_id, tx }: Actor,
      { family_id, share_epoch }: DocumentState,
      changes: ControlChanges,
    ): Promise<{ before: StoredToken; after: StoredToken } | undefined> {
      const filter = { organization_id, family_id, share_epoch };
      const options = toSessionOptions(tx);
      const row = await rows.findOneAndUpdate(filter, toUpdate(changes), options).lean();
      if (!row) return undefined;
      const before = toStoredToken(row);
      const others = Object.fromEntries(Object.entries(before).filter(([name]) => !(name in changes)));
      const set = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));
      // the fields are those of `before`, with new values of the same types
      return { before, after: { ...others, ...set } as StoredToken };
    },

    /**
     * Deletes the token of a document's family if the family was archived after its creation: it never works
     * again.
     */
    async deleteDead({ organization_id, tx }: Actor, document: DocumentState): Promise<void> {
      const { family_id, share_epoch } = document;
      const dead = { organization_id, family_id, share_epoch: { $lt: share_epoch } };
      await rows.deleteOne(dead, toSessionOptions(tx));
    },

    /** Deletes the token of a family. Returns false if it has none. */
    async delete({ organization_id, tx }: Actor, family_id: string): Promise<boolean> {
      const options = toSessionOptions(tx);
      return (await rows.deleteOne({ organization_id, family_id }, options)).deletedCount > 0;
    },
  };
}

/** The controls of a row. */
export function toControls({ expires_at, allowed_origins, password_hash }: LinkControls): LinkControls {
  return {
    ...(expires_at && { expires_at }),
    ...(allowed_origins && { allowed_origins }),
    ...(password_hash && { password_hash }),
  };
}

/** A row has no field for a control that is not set: null removes it. */
function toUpdate(changes: ControlChanges): mongoose.UpdateQuery<ShareTokenRow> {
  const all = Object.entries(changes);
  return {
    $set: Object.fromEntries(all.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(all.filter(([, value]) => value === null)),
  };
}
