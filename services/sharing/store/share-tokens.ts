/** Stores share tokens in MongoDB and reads the views of documents and organizations. */
import type mongoose from 'mongoose';
import { z } from 'zod';
import { id, newId, type RowOf } from '#libs/contract';
import { type Actor, collection, type Store, type StoredRow, toSessionOptions } from '#libs/store';
import {
  assetBytes,
  assetDetails,
  documentNodes,
  documentStates,
  publishedDocuments,
  toAssetKey,
} from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { hashToken } from '../rules/links.ts';
import { sealedToken } from '../views.ts';

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

export type DocumentState = RowOf<typeof documentStates>;
/** A published document, as a public link reads it. */
export type LinkDocument = RowOf<typeof publishedDocuments>;
export type NodeRow = RowOf<typeof documentNodes>;
export type OrganizationProfile = RowOf<typeof organizationProfiles>;

/** The controls of a link: when it ends, who may frame its page, and the hash of its password. */
export type LinkControls = Pick<ShareTokenRow, (typeof controlNames)[number]>;
const controlNames = ['expires_at', 'allowed_origins', 'password_hash'] as const;

/** Controls to change: null removes one, absent ones do not change. */
export type ControlChanges = { [Name in keyof LinkControls]?: LinkControls[Name] | null };

/** A decrypted token with the fields of its row. */
export type StoredToken = { token: string } & LinkControls &
  Pick<ShareTokenRow, 'hash' | 'share_epoch' | 'created_at'>;

/** A token to store; the store computes its hash. */
export type NewToken = Omit<StoredToken, 'hash'>;

/** The rows that decide whether a link works; each of them may be missing. */
export interface LinkRows {
  storedToken: LinkToken | undefined;
  /** The organization with the slug of the link. */
  organization: OrganizationProfile | undefined;
  /** The published version of the token's family. */
  document: LinkDocument | undefined;
}

/** What a public request needs of a token. */
export type LinkToken = LinkControls & Pick<ShareTokenRow, 'organization_id' | 'hash' | 'share_epoch'>;

/** What the query of `createLinkQuery` returns. */
interface LinkQueryResult {
  tokens: LinkToken[];
  organizations: OrganizationProfile[];
  documents: LinkDocument[];
}

export type SharingStore = ReturnType<typeof sharingStore>;

/** Creates the repository of the sharing service; it seals tokens before it stores them. */
export function sharingStore(store: Store) {
  const tokens = store.sealing(sealedToken);
  const rows = store.rows(shareTokens);
  // for the query of the most frequent request
  const driver = store.collection(shareTokens);
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

    /** The rows of a link, in one query. The lookup needs no organization, because the token is secret. */
    async findLink(slug: string, token: string): Promise<LinkRows> {
      const [found] = await driver.aggregate<LinkQueryResult>(createLinkQuery(slug, token)).toArray();
      return {
        storedToken: found?.tokens[0],
        organization: found?.organizations[0],
        document: found?.documents[0],
      };
    },

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

/** The fields of a token that a public request reads; `family_id` is only for the join. */
const linkFields: Readonly<Record<string, 0 | 1>> = {
  ...{ _id: 0, organization_id: 1, family_id: 1, hash: 1, share_epoch: 1 },
  ...Object.fromEntries(controlNames.map((name) => [name, 1])),
};

/**
 * Joins a token with the published version of its family, and with the organization of the link. Every invalid link
 * sends the same command. For an unknown token, `$facet` returns a row too, and the joins find nothing.
 */
function createLinkQuery(slug: string, token: string): mongoose.PipelineStage[] {
  const toTextOrEmpty = (path: string) => ({ $ifNull: [{ $first: path }, ''] });
  const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
  return [
    { $match: { hash: hashToken(token) } },
    { $facet: { tokens: [{ $project: linkFields }] } },
    {
      $set: {
        organization_id: toTextOrEmpty('$tokens.organization_id'),
        family_id: toTextOrEmpty('$tokens.family_id'),
      },
    },
    { $lookup: { from: organizationProfiles.name, pipeline: [{ $match: { slug } }], as: 'organizations' } },
    {
      $lookup: {
        from: publishedDocuments.name,
        localField: 'family_id',
        foreignField: 'family_id',
        let: { organization_id: '$organization_id' },
        pipeline: [{ $match: sameOrganization }],
        as: 'documents',
      },
    },
  ];
}
