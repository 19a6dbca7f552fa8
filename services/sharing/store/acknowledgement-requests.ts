/** Reads and writes requests for acknowledgement in MongoDB. */
import type { QueryFilter } from 'mongoose';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { isOpen } from '../rules/acknowledgement.ts';
import { acknowledgementRequests, type RequestRow } from './acknowledgement-collections.ts';
import type { DocumentReader, DocumentState } from './documents.ts';

/** A request with the published version of its document; undefined if there is none. */
export interface RequestState {
  request: RequestRow;
  published: DocumentState | undefined;
}

/** An open request with the published version of its document. */
export interface OpenRequest extends RequestState {
  published: DocumentState;
}

/** Selects requests. */
export interface RequestFilters {
  family_id?: string | undefined;
  status?: 'open' | 'closed' | undefined;
}

/** The fields to change; undefined removes one. */
export type RequestChange = { [Field in keyof RequestRow]?: RequestRow[Field] | undefined };

/** A request whose due date has passed. */
export type DueRequest = Pick<RequestRow, '_id' | 'organization_id'> & { overdue_at: Date };

/** The earliest time: the partial index holds only rows whose time is later. */
const earliest = new Date(0);

/** How many requests are read at a time. */
const batchSize = 200;

export type RequestStore = ReturnType<typeof requestStore>;

/** Creates the store. Its functions join the transaction of the actor, if the actor has one. */
export function requestStore(
  store: Store,
  documents: Pick<DocumentReader, 'findPublished' | 'findPublishedIn'>,
) {
  const rows = store.rows(acknowledgementRequests);
  const find = async (actor: Actor, filter: QueryFilter<RequestRow>) =>
    (await rows
      .findOne({ organization_id: actor.organization_id, ...filter }, null, toSessionOptions(actor.tx))
      .lean()) ?? undefined;

  return {
    /** A request of the organization; undefined if it does not exist. */
    async find(actor: Actor, id: string): Promise<RequestState | undefined> {
      const request = await find(actor, { _id: id });
      return request && { request, published: await documents.findPublished(actor, request.family_id) };
    },

    /** The open request about a family; undefined if it has none. */
    async findOpen(actor: Actor, family_id: string): Promise<OpenRequest | undefined> {
      const request = await find(actor, { family_id, status: 'open' });
      const published = request && (await documents.findPublished(actor, family_id));
      return published && isOpen(request, published) ? { request, published } : undefined;
    },

    /**
     * Reads requests, newest first, from the one with the id `from` on, until `limit` of them pass the filters and
     * `matches`. Whether a request is open is not only in its row.
     */
    async list(
      actor: Actor,
      { family_id, status }: RequestFilters,
      { from, limit }: { from: string | undefined; limit: number },
      filterBatch: (batch: readonly RequestState[]) => Promise<readonly RequestState[]>,
    ): Promise<RequestState[]> {
      const filter: QueryFilter<RequestRow> = {
        organization_id: actor.organization_id,
        ...(family_id !== undefined && { family_id }),
        // a row that is open may be of a document that is archived, so it is read for both
        ...(status === 'open' && { status }),
      };
      const found: RequestState[] = [];
      let start: QueryFilter<RequestRow> = from === undefined ? {} : { _id: { $lte: from } };
      while (found.length < limit) {
        const batch = await rows
          .find({ ...filter, ...start })
          .sort({ _id: -1 })
          .limit(batchSize)
          .lean();
        const families = [...new Set(batch.map((request) => request.family_id))];
        const published =
          families.length > 0 ? await documents.findPublishedIn(actor, families) : new Map<string, never>();
        const states = batch
          .map((request) => ({ request, published: published.get(request.family_id) }))
          .filter(
            (state) => status === undefined || isOpen(state.request, state.published) === (status === 'open'),
          );
        found.push(...(await filterBatch(states)));
        const last = batch.at(-1);
        if (!last || batch.length < batchSize) break;
        start = { _id: { $lt: last._id } };
      }
      return found.slice(0, limit);
    },

    async add(actor: Actor, request: RequestRow): Promise<void> {
      await rows.insertMany([request], { ...toSessionOptions(actor.tx), lean: true });
    },

    /** The requests of the organization whose row is open and whose audience names a department. */
    findWithDepartment(actor: Actor, department: string): Promise<RequestRow[]> {
      const { organization_id } = actor;
      const filter = { organization_id, status: 'open' as const, 'audience.departments': department };
      return rows.find(filter, null, toSessionOptions(actor.tx)).lean();
    },

    /** Changes a request; undefined removes a field. A concurrent change conflicts with the transaction. */
    async update(actor: Actor, { _id }: Pick<RequestRow, '_id'>, change: RequestChange): Promise<void> {
      const all = Object.entries(change);
      const update = {
        $set: Object.fromEntries(all.filter(([, value]) => value !== undefined)),
        $unset: Object.fromEntries(all.filter(([, value]) => value === undefined).map(([name]) => [name, 1])),
      };
      await rows.updateOne({ _id }, update, toSessionOptions(actor.tx));
    },

    /** Changes the number of readers. Concurrent changes of a request run one after the other. */
    async countReaders(actor: Actor, { _id }: Pick<RequestRow, '_id'>, difference: number): Promise<void> {
      await rows.updateOne({ _id }, { $inc: { reader_count: difference } }, toSessionOptions(actor.tx));
    },

    /** The request of a family whose row is open although its document has been archived. */
    findEnded(actor: Actor, { family_id, share_epoch }: DocumentState): Promise<RequestRow | undefined> {
      return find(actor, { family_id, status: 'open', share_epoch: { $lt: share_epoch } });
    },

    /** Returns at most `limit` requests of all organizations whose check is due, longest due first. */
    findDue(now: Date, limit: number): Promise<DueRequest[]> {
      const due = { overdue_at: { $gt: earliest, $lt: now } };
      const fields = { organization_id: 1, overdue_at: 1 } as const;
      return rows.find(due, fields).sort({ overdue_at: 1 }).limit(limit).lean<DueRequest[]>();
    },

    /** How many checks are due, at most 10,000, and since when the oldest. */
    async countDue(now: Date): Promise<{ count: number; oldest: Date | undefined }> {
      const due = { overdue_at: { $gt: earliest, $lt: now } };
      const times = { _id: 0, overdue_at: 1 } as const;
      const found = await rows.find(due, times).sort({ overdue_at: 1 }).limit(10_000).lean();
      return { count: found.length, oldest: found[0]?.overdue_at };
    },
  };
}
