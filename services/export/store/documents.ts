/** The documents that are exported, read through the views of their owners. */
import type { RowOf } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { documentNodes, documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';

/** A document and its organization, without the tree. */
export interface Opened {
  document: RowOf<typeof documentStates>;
  organization: RowOf<typeof organizationProfiles>;
}

export type DocumentStore = ReturnType<typeof documentStore>;

/** A document as it was at one moment. */
export interface Moment {
  id: string;
  organizationId: string;
  rowVersion: number;
}

/** What export reads of documents. */
export function documentStore(store: Pick<Store, 'read'>) {
  const states = store.read(documentStates);
  const organizations = store.read(organizationProfiles).unscoped();

  return {
    /** The small rows that decide about an export, read for each one; nothing for a document that the actor cannot see. */
    async opened({ organization_id }: Actor, _id: string): Promise<Opened | undefined> {
      const [document, organization] = await Promise.all([
        states.in(organization_id).one({ _id }),
        organizations.one({ _id: organization_id }),
      ]);
      return document && organization && { document, organization };
    },
  };
}

/** Reads nodes, which a thread does for itself. */
export function nodeStore(reading: Pick<Store, 'read'>) {
  const states = reading.read(documentStates);
  const nodes = reading.read(documentNodes);

  return {
    /** The nodes, each as BSON, as they were at this moment; nothing when the document was written meanwhile. */
    async at({ id, organizationId, rowVersion }: Moment): Promise<Uint8Array[] | undefined> {
      const rows = await nodes.in(id).bytes({});
      const after = await states.in(organizationId).one({ _id: id });
      return after?.row_version === rowVersion ? rows : undefined;
    },
  };
}
