/** Reads documents, nodes and organizations through the views of the services that own them. */
import type { RowOf } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { documentNodes, documentStates } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';

/** A document without its tree, and its organization. */
export interface ExportSource {
  document: RowOf<typeof documentStates>;
  organization: RowOf<typeof organizationProfiles>;
}

export type DocumentStore = ReturnType<typeof documentStore>;

/** Identifies one version of a document. */
export interface DocumentSnapshot {
  id: string;
  organizationId: string;
  rowVersion: number;
}

/** Creates the reader of documents and organizations. */
export function documentStore(store: Pick<Store, 'read'>) {
  const states = store.read(documentStates);
  const organizations = store.read(organizationProfiles).unscoped();

  return {
    /** Finds a document and its organization; undefined if the actor may not see the document. */
    async findSource({ organization_id }: Actor, _id: string): Promise<ExportSource | undefined> {
      const [document, organization] = await Promise.all([
        states.in(organization_id).one({ _id }),
        organizations.one({ _id: organization_id }),
      ]);
      return document && organization && { document, organization };
    },
  };
}

/** Creates the reader of nodes, which runs in the workers. */
export function nodeStore(store: Pick<Store, 'read'>) {
  const states = store.read(documentStates);
  const nodes = store.read(documentNodes);

  return {
    /** Reads the nodes of a version as BSON; undefined if the document has another version by now. */
    async readAt({ id, organizationId, rowVersion }: DocumentSnapshot): Promise<Uint8Array[] | undefined> {
      const rows = await nodes.in(id).bytes({});
      const after = await states.in(organizationId).one({ _id: id });
      return after?.row_version === rowVersion ? rows : undefined;
    },
  };
}
