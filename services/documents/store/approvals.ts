/** Reads and writes requests for approval in MongoDB, always within the organization of the caller. */
import type { QueryFilter } from 'mongoose';
import { NotFound } from '#libs/contract';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { memberProfiles } from '../../identity/contract.ts';
import type { Approval } from '../approval-shapes.ts';
import { type ApprovalRow, approvals as collection } from './collections.ts';

/** Selects requests. */
export interface ApprovalFilters {
  document_id?: string | undefined;
  status?: readonly Approval['status'][] | undefined;
  /** The user whose decision the requests await. */
  awaited?: string | undefined;
}

/** The page to read: at most `limit` requests, from the one with the id `from`. */
export interface ApprovalPage {
  from: string | undefined;
  limit: number;
}

/** Creates the store of requests for approval. */
export function approvals(store: Store) {
  const rows = store.rows(collection);
  const profiles = store.read(memberProfiles);

  return {
    /** Returns a request, or throws `NotFound`. */
    async get({ organization_id, tx }: Actor, id: string): Promise<ApprovalRow> {
      const options = toSessionOptions(tx);
      const approval = await rows.findOne({ _id: id, organization_id }, null, options).lean();
      if (!approval) throw NotFound();
      return approval;
    },

    /** Reads a page of requests, newest first. */
    list(
      { organization_id }: Actor,
      { document_id, status, awaited }: ApprovalFilters,
      { from, limit }: ApprovalPage,
    ): Promise<ApprovalRow[]> {
      const filter: QueryFilter<ApprovalRow> = {
        organization_id,
        ...(document_id !== undefined && { document_id }),
        ...(status && { status: { $in: [...status] } }),
        ...(from !== undefined && { _id: { $lte: from } }),
      };
      if (awaited !== undefined) {
        const awaiting = { $elemMatch: { member_id: awaited, decision: null } };
        filter.$and = [{ status: 'pending' }, { approvers: awaiting }];
      }
      return rows.find(filter).sort({ _id: -1 }).limit(limit).lean();
    },

    async add(approval: ApprovalRow, { session }: Transaction): Promise<void> {
      await rows.insertMany([approval], { session, lean: true });
    },

    /** Changes a request. A concurrent change of it conflicts with this transaction. */
    async update(
      { _id }: ApprovalRow,
      change: Partial<Pick<ApprovalRow, 'status' | 'approvers'>>,
      { session }: Transaction,
    ): Promise<void> {
      await rows.updateOne({ _id }, change, { session });
    },

    /** Returns the names of those users who are members, by id. */
    async findNames(
      { organization_id, tx }: Actor,
      userIds: readonly string[],
    ): Promise<ReadonlyMap<string, string>> {
      const options = toSessionOptions(tx);
      const found = await profiles.in(organization_id).many({ user_id: { $in: [...userIds] } }, options);
      return new Map(found.map(({ user_id, name }) => [user_id, name]));
    },
  };
}

export type Approvals = ReturnType<typeof approvals>;
