/** Stores share tokens in MongoDB and reads the views of documents and organizations. */
import type mongoose from 'mongoose';
import { z } from 'zod';
import { id, newId, type RowOf } from '#libs/contract';
import { type Actor, collection, type Store, type StoredRow } from '#libs/store';
import { documentNodes, documentStates } from '../documents/contract.ts';
import { organizationProfiles } from '../identity/contract.ts';
import { hashToken } from './rules.ts';
import { sealedToken } from './views.ts';

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
  }),
  indexes: [
    { on: { organization_id: 1, family_id: 1 }, options: { unique: true } },
    { on: { hash: 1 }, options: { unique: true } },
  ],
  sealed: [sealedToken],
});
export type ShareTokenRow = StoredRow<typeof shareTokens>;

export type DocumentState = RowOf<typeof documentStates>;
export type NodeRow = RowOf<typeof documentNodes>;
export type OrganizationProfile = RowOf<typeof organizationProfiles>;

/** A decrypted token with the fields of its row. */
export type StoredToken = { token: string } & Pick<ShareTokenRow, 'hash' | 'share_epoch' | 'created_at'>;

/** A token to store; the store computes its hash. */
export type NewToken = Omit<StoredToken, 'hash'>;

/** The rows that decide whether a link works; each of them may be missing. */
export interface LinkRows {
  storedToken: LinkToken | undefined;
  /** The organization with the slug of the link. */
  organization: OrganizationProfile | undefined;
  /** The published version of the token's family. */
  document: DocumentState | undefined;
}

type LinkToken = Pick<ShareTokenRow, 'organization_id' | 'hash' | 'share_epoch'>;

/** What the query of `createLinkQuery` returns. */
interface LinkQueryResult {
  tokens: LinkToken[];
  organizations: OrganizationProfile[];
  documents: DocumentState[];
}

export type SharingStore = ReturnType<typeof sharingStore>;

/** Creates the repository of the sharing service; it seals tokens before it stores them. */
export function sharingStore(store: Store) {
  const tokens = store.sealing(sealedToken);
  const rows = store.rows(shareTokens);
  const organizations = store.read(organizationProfiles).unscoped();
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);

  return {
    /** A document of the organization in any state; undefined if it does not exist. */
    document: (organization_id: string, id: string) => states.in(organization_id).one({ _id: id }),

    /** The nodes of a document, unsorted. */
    nodes: (document_id: string) => nodes.in(document_id).many({}),

    organization: ({ organization_id }: Actor) => organizations.one({ _id: organization_id }),

    /** The token of a family, valid or not; undefined if it has none. */
    async find({ organization_id, tx }: Actor, family_id: string): Promise<StoredToken | undefined> {
      const row = await rows
        .findOne({ organization_id, family_id })
        .session(tx?.session ?? null)
        .lean();
      if (!row) return undefined;
      const { hash, share_epoch, created_at } = row;
      return { token: tokens.open(row.sealed, row), hash, share_epoch, created_at };
    },

    /** The rows of a link, in one query. The lookup needs no organization, because the token is secret. */
    async findLink(slug: string, token: string): Promise<LinkRows> {
      const [found] = await rows.aggregate<LinkQueryResult>(createLinkQuery(slug, token)).exec();
      const [storedToken, organization, document] = [
        found?.tokens[0],
        found?.organizations[0],
        found?.documents[0],
      ];
      return { storedToken, organization, document };
    },

    /** Stores a token and replaces the family's previous one. */
    async save({ organization_id, tx }: Actor, family_id: string, newToken: NewToken): Promise<void> {
      const { token, share_epoch, created_at } = newToken;
      const sealed = tokens.seal(token, { family_id });
      const change = { hash: hashToken(token), sealed, share_epoch, created_at };
      const update = { $set: change, $setOnInsert: { _id: newId() } };
      const options = { upsert: true, ...(tx && { session: tx.session }) };
      await rows.updateOne({ organization_id, family_id }, update, options);
    },

    /**
     * Deletes the token of a document's family if the family was archived after its creation: it never works
     * again.
     */
    async deleteDead({ organization_id, tx }: Actor, document: DocumentState): Promise<void> {
      const { family_id, share_epoch } = document;
      const dead = { organization_id, family_id, share_epoch: { $lt: share_epoch } };
      await rows.deleteOne(dead, tx ? { session: tx.session } : {});
    },

    /** Deletes the token of a family, if it has one. */
    async delete({ organization_id }: Actor, family_id: string): Promise<void> {
      await rows.deleteOne({ organization_id, family_id });
    },
  };
}

/**
 * Joins a token with the published version of its family, and with the organization of the link. Every invalid link
 * sends the same command. For an unknown token, `$facet` returns a row too, and the joins find nothing.
 */
function createLinkQuery(slug: string, token: string): mongoose.PipelineStage[] {
  const fields = { _id: 0, organization_id: 1, family_id: 1, hash: 1, share_epoch: 1 } as const;
  const toTextOrEmpty = (path: string) => ({ $ifNull: [{ $first: path }, ''] });
  const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
  return [
    { $match: { hash: hashToken(token) } },
    { $facet: { tokens: [{ $project: fields }] } },
    {
      $set: {
        organization_id: toTextOrEmpty('$tokens.organization_id'),
        family_id: toTextOrEmpty('$tokens.family_id'),
      },
    },
    { $lookup: { from: organizationProfiles.name, pipeline: [{ $match: { slug } }], as: 'organizations' } },
    {
      $lookup: {
        from: documentStates.name,
        localField: 'family_id',
        foreignField: 'family_id',
        let: { organization_id: '$organization_id' },
        pipeline: [{ $match: { status: 'published', ...sameOrganization } }],
        as: 'documents',
      },
    },
  ];
}
