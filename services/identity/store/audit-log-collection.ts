/** The collection of the audit log, which only grows. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { collection, type StoredRow } from '#libs/store';
import { auditActorTypes } from '../rules/audit-entries.ts';

/** The audit logs of all organizations. MongoDB lets this service only find and insert rows. */
export const auditLog = collection('audit_log', {
  row: z.object({
    /** Id of the event. */
    _id: id,
    organization_id: id,
    seq: z.number(),
    occurred_at: z.date(),
    action: z.string(),
    actor_type: z.enum(auditActorTypes),
    actor_id: id.nullable(),
    api_key_id: id.nullable(),
    request_id: z.string().nullable(),
    document_id: id.nullable(),
    target_type: z.string(),
    target_id: id,
    /** Canonical JSON, so that the hash of the entry can be computed from the row at any time. */
    details: z.string(),
    previous_hash: z.string(),
    hash: z.string(),
  }),
  indexes: [
    // orders writers: of two with the same `seq` one retries
    { on: { organization_id: 1, seq: -1 }, options: { unique: true } },
    { on: { organization_id: 1, action: 1, seq: -1 } },
    { on: { organization_id: 1, document_id: 1, seq: -1 } },
    { on: { organization_id: 1, actor_id: 1, seq: -1 } },
    { on: { organization_id: 1, occurred_at: 1, seq: -1 } },
  ],
});
export type AuditLogRow = StoredRow<typeof auditLog>;
