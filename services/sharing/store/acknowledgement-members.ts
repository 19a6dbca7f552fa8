/** Reads the members whom a request asks, with their acknowledgements, from the view of members. */
import type { RowOf } from '#libs/contract';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { memberProfiles } from '../../identity/contract.ts';
import { type Audience, isEmptyAudience } from '../acknowledgements/shapes.ts';
import { getBaseline, isAsked, type Version } from '../rules/acknowledgement.ts';
import type { AcknowledgementRow } from './acknowledgement-collections.ts';
import type { AcknowledgementStore } from './acknowledgements.ts';

/** A member whom a request asks, with the last acknowledgement of the baseline, if there is one. */
export interface AskedMember {
  user_id: string;
  name: string;
  joined_at: Date;
  acknowledgement: AcknowledgementRow | undefined;
}

/** A request with its audience. */
export interface AskingRequest {
  _id: string;
  audience: Audience;
}

/** How many members are read at a time. */
const batchSize = 200;

export type MemberReader = ReturnType<typeof memberReader>;

/** Creates the reader. Its functions join the transaction of the actor, if the actor has one. */
export function memberReader(store: Store, acknowledgements: Pick<AcknowledgementStore, 'findMembers'>) {
  const profiles = store.read(memberProfiles);

  return {
    /** Whether a request asks a member now. */
    async isAsked(actor: Actor & { user_id: string }, audience: Audience): Promise<boolean> {
      const { organization_id, user_id } = actor;
      const profile = await profiles.in(organization_id).one({ user_id }, toSessionOptions(actor.tx));
      return profile !== undefined && isAsked(audience, profile);
    },

    /** The department of a member; undefined if the user is not a member, null without a department. */
    async getDepartment(actor: Actor & { user_id: string }): Promise<string | null | undefined> {
      const profile = await profiles
        .in(actor.organization_id)
        .one({ user_id: actor.user_id }, toSessionOptions(actor.tx));
      return profile?.department;
    },

    /** Returns those of the user ids that are no members. */
    async findUnknown(actor: Actor, userIds: readonly string[]): Promise<string[]> {
      if (userIds.length === 0) return [];
      const filter = { user_id: { $in: [...userIds] } };
      const found = await profiles.in(actor.organization_id).many(filter, toSessionOptions(actor.tx));
      const known = new Set(found.map(({ user_id }) => user_id));
      return userIds.filter((userId) => !known.has(userId));
    },

    /** All members whom a request asks, in batches, in the order of their user ids, from this id on. */
    async *list(
      actor: Actor,
      { _id: request_id, audience }: AskingRequest,
      version: Version,
      from?: string,
    ): AsyncGenerator<AskedMember[]> {
      if (isEmptyAudience(audience)) return;
      const baseline_id = getBaseline(version).id;
      for (let start: object = from === undefined ? {} : { $gte: from }; ; ) {
        const batch = await findBatch(actor, audience, start);
        const userIds = batch.map(({ user_id }) => user_id);
        const made = await acknowledgements.findMembers(actor, { request_id, baseline_id }, userIds);
        const last = new Map(made.map((one) => [one.person.id, one]));
        const asked = batch.map(({ user_id, name, joined_at }) => ({
          ...{ user_id, name, joined_at, acknowledgement: last.get(user_id) },
        }));
        if (asked.length > 0) yield asked;
        const end = userIds.at(-1);
        if (end === undefined || userIds.length < batchSize) return;
        start = { $gt: end };
      }
    },
  };

  function findBatch(
    actor: Actor,
    { everyone, departments, member_ids }: Audience,
    start: object,
  ): Promise<RowOf<typeof memberProfiles>[]> {
    const asked = [{ department: { $in: departments } }, { user_id: { $in: member_ids } }];
    const filters = [
      ...(Object.keys(start).length > 0 ? [{ user_id: start }] : []),
      ...(everyone ? [] : [{ $or: asked }]),
    ];
    const filter = filters.length > 0 ? { $and: filters } : {};
    const page = { sort: { user_id: 1 } as const, limit: batchSize };
    return profiles.in(actor.organization_id).many(filter, { ...page, ...toSessionOptions(actor.tx) });
  }
}
