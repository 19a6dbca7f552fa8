/** The share tokens in MongoDB, and the views that sharing reads. */
import { newId, type RowOf } from '#libs/contract';
import { type Actor, collection, type SealedField, type Store } from '#libs/store';
import { documentNodes, documentStates } from '../documents/contract.ts';
import { organizationProfiles } from '../identity/contract.ts';
import { tokenHash } from './rules.ts';

export interface ShareTokenRow {
  _id: string;
  organization_id: string;
  /** The document family: a token outlives the revision of its document. */
  family_id: string;
  /** SHA-256 of the token. */
  hash: string;
  /** The token itself, encrypted: it must be shown again. */
  sealed: string;
  /** The family's count of archivings when the token was made. */
  share_epoch: number;
  created_at: Date;
}

/** A sealed token opens for its own family only. */
const sealedToken: SealedField<Pick<ShareTokenRow, 'family_id'>> = {
  path: 'sealed',
  context: ({ family_id }) => `share_tokens.token/${family_id}`,
};

/** One row for each family that is or was shared. */
export const shareTokens = collection<ShareTokenRow>('share_tokens', {
  fields: {
    _id: String,
    organization_id: String,
    family_id: String,
    hash: String,
    sealed: String,
    share_epoch: Number,
    created_at: Date,
  },
  indexes: [
    { on: { organization_id: 1, family_id: 1 }, options: { unique: true } },
    { on: { hash: 1 }, options: { unique: true } },
  ],
  sealed: [sealedToken],
});

export type DocumentState = RowOf<typeof documentStates>;
export type NodeRow = RowOf<typeof documentNodes>;
export type OrganizationProfile = RowOf<typeof organizationProfiles>;

/** A token as it was found. */
export interface StoredToken {
  token: string;
  hash: string;
  share_epoch: number;
  created_at: Date;
}

/** A token to be kept. */
export type NewToken = Omit<StoredToken, 'hash'>;

export type SharingStore = ReturnType<typeof sharingStore>;

/** What sharing keeps and reads; tokens are sealed. */
export function sharingStore(store: Store) {
  const tokens = store.sealing(sealedToken);
  const rows = store.rows(shareTokens);
  const organizations = store.read(organizationProfiles).unscoped();
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);

  return {
    /** A document of the organization, in any state. */
    document: (organization_id: string, id: string) => states.in(organization_id).one({ _id: id }),

    /** The published version of a family. */
    published: (organization_id: string, family_id: string) =>
      states.in(organization_id).one({ family_id, status: 'published' }),

    /** The nodes of a document, in no order. */
    nodes: (document_id: string) => nodes.in(document_id).many({}),

    organization: ({ organization_id }: Actor) => organizations.one({ _id: organization_id }),

    organizationBySlug: (slug: string) => organizations.one({ slug }),

    /** The token of a family, dead or alive. */
    async find({ organization_id, tx }: Actor, family_id: string): Promise<StoredToken | undefined> {
      const row = await rows
        .findOne({ organization_id, family_id })
        .session(tx?.session ?? null)
        .lean();
      if (!row) return undefined;
      const { hash, share_epoch, created_at } = row;
      return { token: tokens.open(row.sealed, row), hash, share_epoch, created_at };
    },

    /** The row that a public link names; whoever knows the token needs no organization. */
    async byToken(token: string): Promise<ShareTokenRow | undefined> {
      // by the driver itself: this is read for every reader of every link
      const row = await rows.collection.findOne({ hash: tokenHash(token) });
      // the row is what was written through the same model
      return (row as ShareTokenRow | null) ?? undefined;
    },

    /** Keeps a token as the family's only one. */
    async save({ organization_id, tx }: Actor, family_id: string, made: NewToken): Promise<void> {
      const { token, share_epoch, created_at } = made;
      const sealed = tokens.seal(token, { family_id });
      const change = { hash: tokenHash(token), sealed, share_epoch, created_at };
      const update = { $set: change, $setOnInsert: { _id: newId() } };
      const options = { upsert: true, ...(tx && { session: tx.session }) };
      await rows.updateOne({ organization_id, family_id }, update, options);
    },

    /** Forgets the token of a document's family if it was made before an archiving: then it can never open anything again. */
    async deleteDead({ organization_id, tx }: Actor, document: DocumentState): Promise<void> {
      const { family_id, share_epoch } = document;
      const dead = { organization_id, family_id, share_epoch: { $lt: share_epoch } };
      await rows.deleteOne(dead, tx ? { session: tx.session } : {});
    },

    /** Forgets the token of a family, if there is one. */
    async delete({ organization_id }: Actor, family_id: string): Promise<void> {
      await rows.deleteOne({ organization_id, family_id });
    },
  };
}
