/** The invariant of the audit logs: every log is a chain without a gap, and each entry has the hash of its content. */
import { hashEntry } from '../../../services/identity/rules/audit-chain.ts';
import { toEntry } from '../../../services/identity/store/audit-log.ts';
import { type AuditLogRow, auditLog } from '../../../services/identity/store/audit-log-collection.ts';
import type { Invariant } from './invariant.ts';

/** The invariant. A broken entry is reported, or the one that follows a missing entry. */
export const auditLogInvariant: Invariant = {
  name: `${auditLog.name}.hash`,
  description:
    'The entries of an organization are a chain without a gap, and have the hash of their content.',
  async *find(scan) {
    const rows = scan.db.collection<AuditLogRow>(auditLog.name);
    // from the newest entry on, so that entries which are appended meanwhile do not matter
    const cursor = rows.find({}, { sort: { organization_id: 1, seq: -1 }, batchSize: 500 });
    let newer: AuditLogRow | undefined;
    for await (const row of cursor) {
      const isSameLog = newer?.organization_id === row.organization_id;
      if (newer && !(isSameLog ? follows(newer, row) : isFirst(newer))) yield newer._id;
      const { hash, ...entry } = toEntry(row);
      if (hashEntry(entry) !== hash) yield row._id;
      newer = row;
    }
    if (newer && !isFirst(newer)) yield newer._id;
  },
};

function follows(newer: AuditLogRow, older: AuditLogRow): boolean {
  return newer.seq === older.seq + 1 && newer.previous_hash === older.hash;
}

function isFirst({ seq, previous_hash }: AuditLogRow): boolean {
  return seq === 1 && previous_hash === '0'.repeat(64);
}
