/** The documents that are exported, read through the views of their owners. */
import type { RowOf } from '#libs/contract';
import type { Acting, Store } from '#libs/store';
import { documentNodes, documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';

/** A document and its organization, without the tree. */
export interface Opened {
  document: RowOf<typeof documentStates>;
  organization: RowOf<typeof organizationProfiles>;
}

export type DocumentStore = ReturnType<typeof documentStore>;

/** What export reads of documents. */
export function documentStore(store: Pick<Store, 'read'>) {
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);
  const organizations = store.read(organizationProfiles).anywhere();

  return {
    /** The small rows that decide about an export, read for each one; nothing for a document that the actor cannot see. */
    async opened({ organization_id }: Acting, _id: string): Promise<Opened | undefined> {
      const [document, organization] = await Promise.all([
        states.in(organization_id).one({ _id }),
        organizations.one({ _id: organization_id }),
      ]);
      return document && organization && { document, organization };
    },

    /** The nodes as BSON, one after the other, as they were with this row of the document; nothing when it was written meanwhile. */
    async nodes({ document }: Opened): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const { _id, organization_id, row_version } = document;
      const bytes = await nodes.in(_id).bytes({});
      const after = await states.in(organization_id).one({ _id });
      return after?.row_version === row_version ? bytes : undefined;
    },
  };
}
