/** Reads the views of documents, organizations and departments for acknowledgements. */
import type { RowOf } from '#libs/contract';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import {
  type DocumentSummary,
  documentStates,
  documentSummaries,
  toSummary,
} from '../../documents/contract.ts';
import { departmentNames, organizationProfiles } from '../../identity/contract.ts';

/** The state of a version of a document. */
export type DocumentState = RowOf<typeof documentStates>;

export type DocumentReader = ReturnType<typeof documentReader>;

/** Creates the reader. Its functions join the transaction of the actor, if the actor has one. */
export function documentReader(store: Store) {
  const states = store.read(documentStates);
  const summaries = store.read(documentSummaries);
  const organizations = store.read(organizationProfiles).unscoped();
  const departments = store.read(departmentNames);
  const publishedOf = (families: readonly string[]) => ({
    family_id: families.length === 1 ? families[0] : { $in: [...families] },
    status: 'published',
  });

  return {
    /** A document of the organization in any state; undefined if it does not exist. */
    find: (actor: Actor, id: string): Promise<DocumentState | undefined> =>
      states.in(actor.organization_id).one({ _id: id }, toSessionOptions(actor.tx)),

    /** The published version of a family; undefined if there is none. */
    findPublished: (actor: Actor, family_id: string): Promise<DocumentState | undefined> =>
      states.in(actor.organization_id).one(publishedOf([family_id]), toSessionOptions(actor.tx)),

    /** The published versions of several families, by family. */
    async findPublishedIn(
      actor: Actor,
      families: readonly string[],
    ): Promise<ReadonlyMap<string, DocumentState>> {
      const found = await states
        .in(actor.organization_id)
        .many(publishedOf(families), toSessionOptions(actor.tx));
      return new Map(found.map((state) => [state.family_id, state]));
    },

    /** The version of a family that was published last; the family has been published. */
    async getLatest(actor: Actor, family_id: string): Promise<DocumentState> {
      const options = {
        ...toSessionOptions(actor.tx),
        sort: { published_at: -1, _id: -1 } as const,
        limit: 1,
      };
      const filter = { family_id, published_at: { $ne: null } };
      const [latest] = await states.in(actor.organization_id).many(filter, options);
      if (!latest) throw new Error(`The family ${family_id} has no published version`);
      return latest;
    },

    /** The summary of a document for an event. */
    async getSummary(actor: Actor, id: string): Promise<DocumentSummary> {
      const row = await summaries.in(actor.organization_id).one({ _id: id }, toSessionOptions(actor.tx));
      if (!row) throw new Error(`The document ${id} does not exist`);
      return toSummary(row);
    },

    /** The departments that had one of these names before. */
    findRenamedDepartments: (
      actor: Actor,
      names: readonly string[],
    ): Promise<RowOf<typeof departmentNames>[]> =>
      departments
        .in(actor.organization_id)
        .many({ 'former_names.name': { $in: [...names] } }, toSessionOptions(actor.tx)),

    /** The profile of the actor's organization. */
    async getOrganization(actor: Actor): Promise<RowOf<typeof organizationProfiles>> {
      const profile = await organizations.one({ _id: actor.organization_id }, toSessionOptions(actor.tx));
      if (!profile) throw new Error(`The organization ${actor.organization_id} does not exist`);
      return profile;
    },
  };
}
