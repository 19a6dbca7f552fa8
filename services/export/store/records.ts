/** Reads the versions of a document, the names of the people in them, and the public link. */
import type { RowOf } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { documentApprovals, type documentStates, documentVersions } from '../../documents/contract.ts';
import { userNames } from '../../identity/contract.ts';
import { sealedToken, shareLinks } from '../../sharing/views.ts';

/** A version of a document, as the view of the documents service returns it. */
export type VersionRow = RowOf<typeof documentVersions>;

/** All versions of a family, and the names of their owners, editors and publishers by user id. */
export interface RecordRows {
  versions: VersionRow[];
  names: ReadonlyMap<string, string>;
}

export type RecordStore = ReturnType<typeof recordStore>;

type Family = Pick<RowOf<typeof documentStates>, 'family_id' | 'share_epoch'>;

/** Creates the reader of versions, names and public links. */
export function recordStore(store: Pick<Store, 'read' | 'opening'>) {
  const versionRows = store.read(documentVersions);
  const nameRows = store.read(userNames).unscoped();
  const linkRows = store.read(shareLinks);
  const approvalRows = store.read(documentApprovals);
  const openToken = store.opening(sealedToken);

  return {
    /** Finds the versions of a family and the names in them. */
    async findRows(
      { organization_id }: Pick<Actor, 'organization_id'>,
      { family_id }: Family,
    ): Promise<RecordRows> {
      const versions = await versionRows.in(organization_id).many({ family_id });
      const ids = versions.flatMap(({ created_by, editor_id, published_by }) => [
        created_by,
        ...(editor_id ? [editor_id] : []),
        ...(published_by ? [published_by] : []),
      ]);
      const found = await nameRows.many({ _id: { $in: [...new Set(ids)] } });
      return { versions, names: new Map(found.map(({ _id, name }) => [_id, name])) };
    },

    /** Returns the names of those who approved a version, in this order; empty if it has no approved request. */
    async findApprovers(
      { organization_id }: Pick<Actor, 'organization_id'>,
      document_id: string,
    ): Promise<string[]> {
      const { approvers = [] } = (await approvalRows.in(organization_id).one({ document_id })) ?? {};
      const ordered = approvers.toSorted((a, b) => Number(a.decided_at) - Number(b.decided_at));
      return ordered.map(({ name }) => name);
    },

    /** Returns the token of the family's public link; undefined if it has none that works at this time. */
    async findToken(
      { organization_id }: Pick<Actor, 'organization_id'>,
      { family_id, share_epoch }: Family,
      at: Date,
    ): Promise<string | undefined> {
      // also matches a link without an end
      const isNotExpired = { expires_at: { $not: { $lte: at } } };
      const link = await linkRows.in(organization_id).one({ family_id, share_epoch, ...isNotExpired });
      return link && openToken(link.sealed, link);
    },
  };
}
