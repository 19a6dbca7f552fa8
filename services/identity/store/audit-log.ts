/** The audit log in MongoDB: a collection to which this service only adds rows. */
import type mongoose from 'mongoose';
import type { Actor, Store } from '#libs/store';
import type { AuditEntry } from '../contract/audit-entries.ts';
import { type AuditHead, chainEntry, emptyLog, toCanonicalJson } from '../rules/audit-chain.ts';
import { type AuditLogRow, auditLog } from './audit-log-collection.ts';

/** A transaction of several organizations, which publishes no event. */
const noOrganization = { organization_id: '', user_id: null };

/** An entry without its place in the chain. */
export type NewAuditEntry = Omit<AuditEntry, 'seq' | 'hash' | 'previous_hash'>;

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

  return {
    /**
     * Appends entries to the logs of their organizations, in this order and in one transaction. Returns for each of
     * them whether it is new. A concurrent append makes one of the transactions retry.
     */
    append: (all: readonly NewAuditEntry[]): Promise<boolean[]> =>
      store.transact(noOrganization, async ({ session }) => {
        const known = await findIds(all, session);
        const heads = await findHeads(all, session);
        const entries: AuditEntry[] = [];
        const isNew = all.map((fields) => {
          if (known.has(fields.id)) return false;
          known.add(fields.id);
          const entry = chainEntry(heads.get(fields.organization_id) ?? emptyLog, fields);
          heads.set(fields.organization_id, entry);
          entries.push(entry);
          return true;
        });
        if (entries.length > 0) await rows.insertMany(entries.map(toRow), { session, lean: true });
        return isNew;
      }),

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

  /** Returns the ids that the log already has. */
  async function findIds(
    all: readonly NewAuditEntry[],
    session: mongoose.ClientSession,
  ): Promise<Set<string>> {
    const found = await rows.find({ _id: { $in: all.map(({ id }) => id) } }, { _id: 1 }, { session }).lean();
    return new Set(found.map(({ _id }) => _id));
  }

  /** Returns the newest entry of each organization that has one. */
  async function findHeads(
    all: readonly NewAuditEntry[],
    session: mongoose.ClientSession,
  ): Promise<Map<string, AuditHead>> {
    const ids = [...new Set(all.map(({ organization_id }) => organization_id))];
    const found = await rows.aggregate<AuditHead & { _id: string }>(
      [
        { $match: { organization_id: { $in: ids } } },
        // reads one key of the index for each organization
        { $sort: { organization_id: 1, seq: -1 } },
        { $group: { _id: '$organization_id', seq: { $first: '$seq' }, hash: { $first: '$hash' } } },
      ],
      { session },
    );
    return new Map(found.map(({ _id, seq, hash }) => [_id, { seq, hash }]));
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
