/**
 * Reads the API keys and members that authenticate requests. Those of all requests that arrive in the same turn of the
 * event loop are read together: the keys with one command, the members with one for each organization. Nothing is
 * cached: every read begins after its request has arrived, so a change applies to the next request.
 */
import { setImmediate } from 'node:timers';
import DataLoader from 'dataloader';
import type { RowOf } from '#libs/contract';
import type { Store } from '#libs/store';
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

const options = {
  cache: false,
  maxBatchSize: 100,
  // at the end of the turn, when all data that had arrived has been handled
  batchScheduleFn: (read: () => void) => void setImmediate(read),
};

/** Creates the functions that read principals. */
export function createPrincipalLoaders(store: Pick<Store, 'read'>): PrincipalLoaders {
  const keys = store.read(keyPrincipals).unscoped();
  const members = store.read(memberStates);

  const keyLoader = new DataLoader(async (hashes: readonly string[]) => {
    const wanted = [...new Set(hashes)];
    const rows = await keys.many({ hash: { $in: wanted } }, { limit: wanted.length });
    const rowByHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => rowByHash.get(hash));
  }, options);

  const memberLoader = new DataLoader(async (wanted: readonly Member[]) => {
    const byOrganization = Map.groupBy(wanted, ({ organization_id }) => organization_id);
    const reads = [...byOrganization].map(async ([organization_id, group]) => {
      const userIds = [...new Set(group.map(({ user_id }) => user_id))];
      return members.in(organization_id).many({ user_id: { $in: userIds } }, { limit: userIds.length });
    });
    const rowById = new Map((await Promise.all(reads)).flat().map((row) => [toId(row), row]));
    return wanted.map((member) => rowById.get(toId(member)));
  }, options);

  return { loadKey: (hash) => keyLoader.load(hash), loadMember: (member) => memberLoader.load(member) };
}

function toId({ organization_id, user_id }: Member): string {
  return `${organization_id} ${user_id}`;
}
