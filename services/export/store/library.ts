/** Reads which documents a library has, through the view of the documents service. */
import type { RowOf } from '#libs/contract';
import type { Actor, Store } from '#libs/store';
import { type DocumentStatus, libraryDocuments } from '../../documents/contract.ts';

/** What the manifest of a library says about a document. */
export type LibraryDocument = RowOf<typeof libraryDocuments>;

/** Which documents an export contains. An absent field selects all. */
export interface LibraryFilter {
  status?: readonly DocumentStatus[] | undefined;
  department?: string | undefined;
  updated_since?: Date | undefined;
}

export type LibraryStore = ReturnType<typeof libraryStore>;

type Within = Pick<Actor, 'organization_id'>;

/** Creates the reader of libraries. */
export function libraryStore(store: Pick<Store, 'read'>) {
  const rows = store.read(libraryDocuments);
  return {
    /** Lists the ids of the selected documents, oldest first. */
    async listIds(
      { organization_id }: Within,
      { status, department, updated_since }: LibraryFilter,
    ): Promise<string[]> {
      const found = await rows.in(organization_id).many({
        ...(status && { status: { $in: [...status] } }),
        ...(department !== undefined && { department }),
        ...(updated_since && { updated_at: { $gte: updated_since } }),
      });
      return found.map(({ _id }) => _id).sort();
    },

    /** Finds a document; undefined if it was deleted. */
    find: ({ organization_id }: Within, _id: string): Promise<LibraryDocument | undefined> =>
      rows.in(organization_id).one({ _id }),
  };
}
