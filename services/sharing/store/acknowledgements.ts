/** Adds and finds acknowledgements in MongoDB. They are never changed or removed. */
import type mongoose from 'mongoose';
import { type Actor, type Store, toSessionOptions } from '#libs/store';
import { type AcknowledgementRow, acknowledgements } from './acknowledgement-collections.ts';

/** Selects acknowledgements. */
export interface AcknowledgementFilters {
  document_id?: string | undefined;
  request_id?: string | undefined;
  /** The user or reader who acknowledged. */
  person_id?: string | undefined;
}

export type AcknowledgementStore = ReturnType<typeof acknowledgementStore>;

/** Creates the store. Its functions join the transaction of the actor, if the actor has one. */
export function acknowledgementStore(store: Store) {
  const rows = store.collection(acknowledgements);

  return {
    /** Adds an acknowledgement. Rejects as a duplicate if the person has acknowledged this version. */
    async add(actor: Actor, acknowledgement: AcknowledgementRow): Promise<void> {
      await rows.insertOne(acknowledgement, toSessionOptions(actor.tx));
    },

    /** The acknowledgement of a version by a person; undefined if there is none. */
    async find(
      actor: Actor,
      key: { request_id: string; person_id: string; document_id: string },
    ): Promise<AcknowledgementRow | undefined> {
      const { request_id, person_id, document_id } = key;
      const filter = { request_id, 'person.id': person_id, document_id };
      return (await rows.findOne(filter, toSessionOptions(actor.tx))) ?? undefined;
    },

    /** The acknowledgements of a baseline by these members, oldest first. */
    findMembers(
      actor: Actor,
      { request_id, baseline_id }: { request_id: string; baseline_id: string },
      userIds?: readonly string[],
    ): Promise<AcknowledgementRow[]> {
      const filter = {
        ...{ request_id, 'person.kind': 'member' as const, baseline_id },
        ...(userIds && { 'person.id': { $in: [...userIds] } }),
      };
      return rows.find(filter, toSessionOptions(actor.tx)).sort({ _id: 1 }).toArray();
    },

    /** The acknowledgements of one person under several requests. */
    findOf(actor: Actor, person_id: string, requestIds: readonly string[]): Promise<AcknowledgementRow[]> {
      const filter = { request_id: { $in: [...requestIds] }, 'person.id': person_id };
      return rows.find(filter, toSessionOptions(actor.tx)).toArray();
    },

    /** Reads a page, newest first, from the one with the id `from` on. */
    list(
      { organization_id }: Actor,
      { document_id, request_id, person_id }: AcknowledgementFilters,
      { from, limit }: { from: string | undefined; limit: number },
    ): Promise<AcknowledgementRow[]> {
      const filter: mongoose.mongo.Filter<AcknowledgementRow> = {
        organization_id,
        ...(document_id !== undefined && { document_id }),
        ...(request_id !== undefined && { request_id }),
        ...(person_id !== undefined && { 'person.id': person_id }),
        ...(from !== undefined && { _id: { $lte: from } }),
      };
      return rows.find(filter).sort({ _id: -1 }).limit(limit).toArray();
    },
  };
}
