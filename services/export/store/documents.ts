/** Reads documents, nodes and organizations through the views of the services that own them. */
import type { RowOf } from '#libs/contract';
import { type Actor, decodeRow, type Store } from '#libs/store';
import { assetBytes, documentNodes, documentStates, toAssetKey, toBytes } from '../../documents/contract.ts';
import { organizationProfiles } from '../../identity/contract.ts';
import type { NodeRow } from '../rules.ts';

/** A document without its tree, and its organization. */
export interface ExportSource {
  document: RowOf<typeof documentStates>;
  organization: RowOf<typeof organizationProfiles>;
}

export type DocumentStore = ReturnType<typeof documentStore>;

/** Identifies one version of a document and of its organization. */
export interface DocumentSnapshot {
  id: string;
  organizationId: string;
  rowVersion: number;
  organizationRowVersion: number;
}

/** Creates the reader of documents, nodes and organizations. */
export function documentStore(store: Pick<Store, 'read'>) {
  const states = store.read(documentStates);
  const organizations = store.read(organizationProfiles).unscoped();
  const nodeRows = store.read(documentNodes);
  const assets = store.read(assetBytes);

  return {
    findSource,

    /** Finds the organization of a caller. */
    findOrganization: ({ organization_id }: Pick<Actor, 'organization_id'>) =>
      organizations.one({ _id: organization_id }),

    /**
     * Reads a version; undefined if document or organization have changed since. The nodes are decoded on demand,
     * because they can be too large.
     */
    async readAt({ id, organizationId, rowVersion, organizationRowVersion }: DocumentSnapshot) {
      const nodes = await nodeRows.in(id).bytes({});
      const source = await findSource({ organization_id: organizationId }, id);
      const isCurrent =
        source?.document.row_version === rowVersion &&
        source.organization.row_version === organizationRowVersion;
      if (!isCurrent) return undefined;
      const nodeBytes = nodes.reduce((sum, { byteLength }) => sum + byteLength, 0);
      return { ...source, nodeBytes, decodeNodes: () => nodes.map(decodeRow<NodeRow>) };
    },

    /** Reads the pictures of an organization with these ids, one at a time. */
    async *readAssets(organizationId: string, ids: Iterable<string>) {
      for (const id of ids) {
        const asset = await assets.in(organizationId).one({ _id: toAssetKey(organizationId, id) });
        if (asset) yield { id, media_type: asset.media_type, bytes: toBytes(asset.bytes) };
      }
    },
  };

  /** Finds a document and its organization; undefined if the organization has no such document. */
  async function findSource(
    { organization_id }: Pick<Actor, 'organization_id'>,
    _id: string,
  ): Promise<ExportSource | undefined> {
    const [document, organization] = await Promise.all([
      states.in(organization_id).one({ _id }),
      organizations.one({ _id: organization_id }),
    ]);
    return document && organization && { document, organization };
  }
}
