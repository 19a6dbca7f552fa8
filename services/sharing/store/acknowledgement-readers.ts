/** Reads and writes the readers of requests in MongoDB; it seals the tokens of their links before it stores them. */
import type mongoose from 'mongoose';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import type { PersonStatus } from '../acknowledgements/shapes.ts';
import {
  getBaseline,
  getOverdueCutoff,
  isAcknowledgeable,
  type RequestTerms,
  type Version,
} from '../rules/acknowledgement.ts';
import { hashToken } from '../rules/links.ts';
import {
  type AcknowledgementRow,
  acknowledgementReaders,
  type ReaderRow,
  sealedReaderToken,
} from './acknowledgement-collections.ts';

/** A reader to add, with the token of the personal link. */
export type NewReader = Pick<ReaderRow, '_id' | 'external_id' | 'name' | 'added_at'> & { token: string };

type ReaderFilter = mongoose.mongo.Filter<ReaderRow>;

/** A request with its version and the time at which the status of people is asked. */
export interface StatusContext {
  request: RequestTerms & { _id: string };
  version: Version;
  now: Date;
}

export type ReaderStore = ReturnType<typeof readerStore>;

/** Creates the store. Its functions join the transaction of the actor, if the actor has one. */
export function readerStore(store: Store) {
  const rows = store.collection(acknowledgementReaders);
  const tokens = store.sealing(sealedReaderToken);

  return {
    /** The token of the personal link of a reader. */
    openToken: (reader: ReaderRow): string => tokens.open(reader.sealed, reader),

    /** The readers of a request with these external ids. */
    findByExternalIds(
      actor: Actor,
      request_id: string,
      externalIds: readonly string[],
    ): Promise<ReaderRow[]> {
      return rows
        .find({ request_id, external_id: { $in: [...externalIds] } }, toSessionOptions(actor.tx))
        .toArray();
    },

    /** Adds readers and returns their rows in the same order. */
    async add(
      actor: Actor,
      request: { _id: string; family_id: string },
      readers: readonly NewReader[],
    ): Promise<ReaderRow[]> {
      const { organization_id } = actor;
      const added = readers.map(({ token, ...reader }) => ({
        ...reader,
        ...{ organization_id, request_id: request._id, family_id: request.family_id },
        hash: hashToken(token),
        sealed: tokens.seal(token, reader),
      }));
      if (added.length > 0) await rows.insertMany(added, toSessionOptions(actor.tx));
      return added;
    },

    /** Deletes a reader. Returns false if the request has no such reader. */
    async delete(actor: Actor, request_id: string, _id: string): Promise<boolean> {
      return (await rows.deleteOne({ _id, request_id }, toSessionOptions(actor.tx))).deletedCount === 1;
    },

    /** The reader with this personal link, and the request; undefined if there is none. */
    async findByHash(actor: Actor, hash: string): Promise<ReaderRow | undefined> {
      return (await rows.findOne({ hash }, toSessionOptions(actor.tx))) ?? undefined;
    },

    /** Caches an acknowledgement as the last one of a reader. A concurrent deletion conflicts. */
    async setAcknowledged(
      { _id }: ReaderRow,
      { baseline_id, document_id, created_at }: AcknowledgementRow,
      { session }: Transaction,
    ): Promise<void> {
      const last = {
        ...{ acknowledged_baseline_id: baseline_id, acknowledged_document_id: document_id },
        acknowledged_at: created_at,
      };
      await rows.updateOne({ _id }, { $set: last }, { session });
    },

    /** Reads readers with a status, or all, in the order of their ids, from this id on. */
    list(
      { request, version, now }: StatusContext,
      { status, from, limit }: { status: PersonStatus | undefined; from: string | undefined; limit: number },
    ): Promise<ReaderRow[]> {
      const filters: ReaderFilter[] = [
        { request_id: request._id },
        ...(from === undefined ? [] : [{ _id: { $gte: from } }]),
        ...(status === undefined ? [] : matchStatus({ request, version, now }, status)),
      ];
      return rows.find({ $and: filters }).sort({ _id: 1 }).limit(limit).toArray();
    },

    /** Counts the readers who acknowledged, and those who are overdue. */
    async count(
      actor: Actor,
      { request, version, now }: StatusContext,
    ): Promise<{ acknowledged: number; overdue: number }> {
      const countStatus = (status: PersonStatus) =>
        rows.countDocuments(
          { $and: [{ request_id: request._id }, ...matchStatus({ request, version, now }, status)] },
          toSessionOptions(actor.tx),
        );
      const acknowledged = await countStatus('acknowledged');
      return { acknowledged, overdue: await countStatus('overdue') };
    },

    /** Whether a reader of a request has not acknowledged a version. */
    async hasPending(actor: Actor, request_id: string, version: Version): Promise<boolean> {
      const pending: ReaderFilter = { $and: [{ request_id }, ...matchNotAcknowledged(version)] };
      return (
        (await rows.findOne(pending, { ...toSessionOptions(actor.tx), projection: { _id: 1 } })) !== null
      );
    },
  };
}

function matchNotAcknowledged(version: Version): ReaderFilter[] {
  return isAcknowledgeable(version) ? [{ acknowledged_baseline_id: { $ne: getBaseline(version).id } }] : [];
}

/** The filters for the readers with a status; the same as `getStatus`. */
function matchStatus({ request, version, now }: StatusContext, status: PersonStatus): ReaderFilter[] {
  if (status === 'acknowledged')
    return isAcknowledgeable(version)
      ? [{ acknowledged_baseline_id: getBaseline(version).id }]
      : [{ _id: { $in: [] } }];
  const cutoff = getOverdueCutoff(request, version, now);
  const others = matchNotAcknowledged(version);
  if (cutoff === undefined) return status === 'pending' ? others : [{ _id: { $in: [] } }];
  return [...others, { added_at: status === 'overdue' ? { $lt: cutoff } : { $gte: cutoff } }];
}
