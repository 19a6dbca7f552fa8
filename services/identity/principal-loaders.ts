/**
 * Reads the API keys and members that authenticate requests. Requests share these reads: of the keys one command, of
 * the members one for each organization.
 */
import type { RowOf } from '#libs/contract';
import { type Store, sharedRead } from '#libs/store';
import { keyPrincipals, memberStates } from './views.ts';

/** A member of an organization. */
interface Member {
  organization_id: string;
  user_id: string;
}

/** Functions that read the row of a principal; undefined if there is none. */
export interface PrincipalLoaders {
  /** The API key with this hash, with its member. */
  loadKey(hash: string): Promise<RowOf<typeof keyPrincipals> | undefined>;
  /** The role and the sessions of a member. */
  loadMember(member: Member): Promise<RowOf<typeof memberStates> | undefined>;
}

/** Creates the functions that read principals. */
export function createPrincipalLoaders(store: Pick<Store, 'read'>): PrincipalLoaders {
  const keys = store.read(keyPrincipals).unscoped();
  const members = store.read(memberStates);

  return {
    loadKey: sharedRead({
      toId: (hash) => hash,
      async read(hashes) {
        const rows = await keys.many({ hash: { $in: hashes } }, { limit: hashes.length });
        return new Map(rows.map((row) => [row.hash, row]));
      },
    }),
    loadMember: sharedRead({
      toId,
      async read(wanted) {
        const byOrganization = Map.groupBy(wanted, ({ organization_id }) => organization_id);
        const reads = [...byOrganization].map(([organization_id, group]) => {
          const userIds = group.map(({ user_id }) => user_id);
          return members.in(organization_id).many({ user_id: { $in: userIds } }, { limit: userIds.length });
        });
        return new Map((await Promise.all(reads)).flat().map((row) => [toId(row), row]));
      },
    }),
  };
}

function toId({ organization_id, user_id }: Member): string {
  return `${organization_id} ${user_id}`;
}
