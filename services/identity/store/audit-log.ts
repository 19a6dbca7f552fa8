/** The audit log in MongoDB: a collection to which this service only adds rows. */
import type mongoose from 'mongoose';
import type { Actor, Store, Transaction } from '#libs/store';
import type { AuditEntry } from '../contract/audit-entries.ts';
import { type AuditHead, chainEntry, emptyLog, toCanonicalJson } from '../rules/audit-chain.ts';
import { type AuditLogRow, auditLog } from './audit-log-collection.ts';

/** The filters of a page of entries. */
export interface AuditLogFilter {
  action?: readonly string[] | undefined;
  document_id?: readonly string[] | undefined;
  actor_id?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** The positions of the first and the last entry of an export. It is empty if `from` is greater than `to`. */
export interface AuditLogRange {
  from: number;
  to: number;
}

/** Creates the repository of the audit log. */
export function auditLogRepository(store: Store) {
  const rows = store.rows(auditLog);
  /** The newest entry that a transaction has written, so that a batch reads it once. */
  const heads = new WeakMap<mongoose.ClientSession, AuditHead>();

  return {
    /** Appends an entry to the log of its organization. A concurrent append makes one of the transactions retry. */
    async append(
      fields: Omit<AuditEntry, 'seq' | 'hash' | 'previous_hash'>,
      { session }: Transaction,
    ): Promise<AuditEntry> {
      const entry = chainEntry(heads.get(session) ?? (await findHead(fields, session)), fields);
      await rows.insertMany([toRow(entry)], { session, lean: true });
      heads.set(session, entry);
      return entry;
    },

    /** A page of entries, newest first. */
    async list(
      { organization_id }: Actor,
      filter: AuditLogFilter,
      { before, limit }: { before: number | undefined; limit: number },
    ): Promise<AuditEntry[]> {
      const { action, document_id, actor_id, since, until } = filter;
      const found = await rows
        .find({
          organization_id,
          ...(before !== undefined && { seq: { $lt: before } }),
          ...(action && { action: { $in: action } }),
          ...(document_id && { document_id: { $in: document_id } }),
          ...(actor_id !== undefined && { actor_id }),
          ...((since || until) && { occurred_at: toPeriod({ since, until }) }),
        })
        .sort({ seq: -1 })
        .limit(limit)
        .lean();
      return found.map(toEntry);
    },

    /**
     * Returns the range from the first entry at or after `since` to the last one before `until`. An entry that is
     * appended later is not in it.
     */
    async findRange(
      { organization_id }: Actor,
      { since, until }: Pick<AuditLogFilter, 'since' | 'until'>,
    ): Promise<AuditLogRange> {
      if (since && until && since >= until) return { from: 1, to: 0 };
      const findSeq = async (period: Pick<AuditLogFilter, 'since' | 'until'>, seq: 1 | -1) => {
        const filter = {
          organization_id,
          ...(Object.keys(period).length > 0 && { occurred_at: toPeriod(period) }),
        };
        return (await rows.findOne(filter, { seq: 1, _id: 0 }).sort({ seq }).lean())?.seq;
      };
      const from = await findSeq(since ? { since } : {}, 1);
      const to = await findSeq(until ? { until } : {}, -1);
      return from === undefined || to === undefined ? { from: 1, to: 0 } : { from, to };
    },

    /** Reads the entries of a range, oldest first. */
    async *read({ organization_id }: Actor, { from, to }: AuditLogRange): AsyncGenerator<AuditEntry> {
      const filter = { organization_id, seq: { $gte: from, $lte: to } };
      const cursor = rows.find(filter).sort({ seq: 1 }).lean().cursor({ batchSize: 500 });
      for await (const row of cursor) yield toEntry(row);
    },
  };

  async function findHead(
    { organization_id }: Pick<AuditEntry, 'organization_id'>,
    session: mongoose.ClientSession,
  ): Promise<AuditHead> {
    const newest = rows.findOne({ organization_id }, { seq: 1, hash: 1 }, { session }).sort({ seq: -1 });
    return (await newest.lean()) ?? emptyLog;
  }
}

export type AuditLogRepository = ReturnType<typeof auditLogRepository>;

function toPeriod({ since, until }: Pick<AuditLogFilter, 'since' | 'until'>) {
  return { ...(since && { $gte: since }), ...(until && { $lt: until }) };
}

function toRow({ id, occurred_at, actor, target, details, ...entry }: AuditEntry): AuditLogRow {
  return {
    ...{ _id: id, ...entry, occurred_at: new Date(occurred_at) },
    ...{ actor_type: actor.type, actor_id: actor.id, target_type: target.type, target_id: target.id },
    details: toCanonicalJson(details),
  };
}

/** Maps a row to the entry whose hash it has. */
export function toEntry({
  _id,
  occurred_at,
  actor_type,
  actor_id,
  target_type,
  target_id,
  details,
  ...row
}: AuditLogRow): AuditEntry {
  return {
    ...{ seq: row.seq, id: _id, organization_id: row.organization_id },
    ...{ occurred_at: occurred_at.toISOString(), action: row.action },
    actor: { type: actor_type, id: actor_id },
    ...{ api_key_id: row.api_key_id, request_id: row.request_id, document_id: row.document_id },
    target: { type: target_type, id: target_id },
    details: JSON.parse(details),
    ...{ previous_hash: row.previous_hash, hash: row.hash },
  };
}
