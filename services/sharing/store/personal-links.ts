/** Finds what a personal link shows: its reader, the open request, the published version and the organization. */
import type { RowOf } from '#libs/contract';
import { type Store, sharedRead } from '#libs/store';
import { documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import { isOpen } from '../rules/acknowledgement.ts';
import { hashToken } from '../rules/links.ts';
import {
  acknowledgementReaders,
  acknowledgementRequests,
  type ReaderRow,
  type RequestRow,
} from './acknowledgement-collections.ts';

/** What a personal link shows. */
export interface PersonalLink {
  reader: LinkReader;
  request: LinkRequest;
  document: RowOf<typeof documentStates>;
  organization: RowOf<typeof organizationProfiles>;
}

type LinkReader = Omit<ReaderRow, 'sealed' | 'external_id'>;
type LinkRequest = Pick<
  RequestRow,
  '_id' | 'status' | 'share_epoch' | 'statement' | 'due_days' | 'created_at'
>;

const readerFields = { sealed: 0, external_id: 0 };
const requestFields = { status: 1, share_epoch: 1, statement: 1, due_days: 1, created_at: 1 };

/**
 * Creates the function that finds a link; undefined if it does not work. Concurrent requests share a query. It needs no
 * organization, because the token is secret.
 */
export function findPersonalLink(store: Store): (token: string) => Promise<PersonalLink | undefined> {
  const rows = store.collection(acknowledgementReaders);
  const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
  const joins = [
    {
      $lookup: {
        ...{ from: acknowledgementRequests.name, localField: 'request_id', foreignField: '_id' },
        ...{ pipeline: [{ $project: requestFields }], as: 'request' },
      },
    },
    {
      $lookup: {
        ...{ from: documentStates.name, localField: 'family_id', foreignField: 'family_id' },
        let: { organization_id: '$organization_id' },
        ...{ pipeline: [{ $match: { status: 'published', ...sameOrganization } }], as: 'document' },
      },
    },
    {
      $lookup: {
        ...{ from: organizationProfiles.name, localField: 'organization_id', foreignField: '_id' },
        as: 'organization',
      },
    },
  ];
  const find = sharedRead({
    toId: (hash: string) => hash,
    async read(hashes) {
      const pipeline = [{ $match: { hash: { $in: [...hashes] } } }, { $project: readerFields }, ...joins];
      const found = await rows.aggregate<LinkRows>(pipeline).toArray();
      return new Map(found.map((row) => [row.hash, row]));
    },
  });
  return async (token) => {
    const found = await find(hashToken(token));
    if (!found) return undefined;
    const { request: requests, document: documents, organization: organizations, ...reader } = found;
    const [request, document, organization] = [requests[0], documents[0], organizations[0]];
    if (!request || !document || !organization || !isOpen(request, document)) return undefined;
    return { reader, request, document, organization };
  };
}

type LinkRows = LinkReader & {
  request: LinkRequest[];
  document: PersonalLink['document'][];
  organization: PersonalLink['organization'][];
};
