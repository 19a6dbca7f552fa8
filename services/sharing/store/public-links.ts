/** Finds the rows that decide whether a public link works: its token, its organization and its published document. */
import type mongoose from 'mongoose';
import type { RowOf } from '#libs/contract';
import { type Store, sharedRead } from '#libs/store';
import { publishedDocuments } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { controlNames, type LinkControls, type ShareTokenRow, shareTokens } from './collections.ts';

/** The organization of a link. */
export type OrganizationProfile = RowOf<typeof organizationProfiles>;
/** A published document, as a public link reads it. */
export type LinkDocument = RowOf<typeof publishedDocuments>;

/** The rows that decide whether a link works; each of them may be missing. `resolveLink` checks that they match. */
export interface LinkRows {
  storedToken: LinkToken | undefined;
  /** The organization with the slug of the link. It need not be that of the token. */
  organization: OrganizationProfile | undefined;
  /** The published version of the token's family. */
  document: LinkDocument | undefined;
}

/** What a public request needs of a token. */
export type LinkToken = LinkControls & Pick<ShareTokenRow, 'organization_id' | 'hash' | 'share_epoch'>;

/** What identifies a public link: the slug of its organization, and the hash of its token. */
interface LinkKey {
  slug: string;
  hash: string;
}

/** What the query of `createQuery` returns for a link. */
interface LinkQueryResult {
  link: LinkKey;
  token?: LinkToken;
  organizations: OrganizationProfile[];
  documents: LinkDocument[];
}

const noRows: LinkRows = { storedToken: undefined, organization: undefined, document: undefined };

/**
 * Creates the function that finds the rows of a link by its slug and the hash of its token. Concurrent requests share a
 * query. The token is secret, so the caller needs no organization.
 */
export function findPublicLink(store: Store): (slug: string, hash: string) => Promise<LinkRows> {
  // the driver, because this is the most frequent request
  const rows = store.collection(shareTokens);
  const find = sharedRead({
    toId,
    async read(links: readonly LinkKey[]) {
      const found = await rows.aggregate<LinkQueryResult>(createQuery(links)).toArray();
      return new Map(found.map((row) => [toId(row.link), toLinkRows(row)]));
    },
  });
  return async (slug, hash) => (await find({ slug, hash })) ?? noRows;
}

/** The fields of a token that a public request reads; `family_id` is only for the join. */
const linkFields: Readonly<Record<string, 0 | 1>> = {
  ...{ _id: 0, organization_id: 1, family_id: 1, hash: 1, share_epoch: 1 },
  ...Object.fromEntries(controlNames.map((name) => [name, 1])),
};

/**
 * Joins each link with its token, its organization and the published version of the token's family. `$facet` returns a
 * row even if no token is known. So an invalid link goes through the same joins as a valid one, and its cost does not
 * tell why it is invalid.
 */
function createQuery(links: readonly LinkKey[]): mongoose.PipelineStage[] {
  const isTokenOfLink = { $eq: ['$$this.hash', '$link.hash'] };
  const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
  return [
    { $match: { hash: { $in: links.map(({ hash }) => hash) } } },
    { $facet: { tokens: [{ $project: linkFields }] } },
    { $set: { link: { $literal: links } } },
    { $unwind: '$link' },
    {
      $project: {
        link: 1,
        token: { $first: { $filter: { input: '$tokens', cond: isTokenOfLink } } },
      },
    },
    // with a missing field, the join of an unknown token would use no index, and read all documents
    {
      $set: {
        organization_id: { $ifNull: ['$token.organization_id', ''] },
        family_id: { $ifNull: ['$token.family_id', ''] },
      },
    },
    {
      $lookup: {
        ...{ from: organizationProfiles.name, localField: 'link.slug', foreignField: 'slug' },
        as: 'organizations',
      },
    },
    {
      $lookup: {
        ...{ from: publishedDocuments.name, localField: 'family_id', foreignField: 'family_id' },
        let: { organization_id: '$organization_id' },
        ...{ pipeline: [{ $match: sameOrganization }], as: 'documents' },
      },
    },
  ];
}

function toId({ slug, hash }: LinkKey): string {
  return `${hash} ${slug}`;
}

function toLinkRows({ token, organizations, documents }: LinkQueryResult): LinkRows {
  return { storedToken: token, organization: organizations[0], document: documents[0] };
}
