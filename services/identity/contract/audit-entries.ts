/** The operations on the audit log of an organization. */
import { z } from 'zod';
import { id, inputTime, media, operation, page, queryList, timestamp } from '#libs/contract';
import { admin } from '../access.ts';
import { auditActions, auditActorTypes } from '../rules/audit-entries.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** An entry of the audit log. */
export const AuditEntry = z
  .strictObject({
    seq: z.number().int().min(1).meta({ description: 'Position in the log of the organization, from 1' }),
    id: id.meta({ description: 'Id of the event that reported the change' }),
    organization_id: id,
    occurred_at: timestamp.meta({ description: 'When the change was made; `seq` gives the order' }),
    action: z.enum(auditActions).meta({ id: 'AuditAction', description: 'Name of the event' }),
    actor: z.strictObject({ type: z.enum(auditActorTypes), id: id.nullable() }),
    api_key_id: id.nullable().meta({ description: 'The API key with which the change was made' }),
    request_id: z.string().nullable().meta({ description: '`X-Request-Id` of the request' }),
    document_id: id.nullable(),
    target: z.strictObject({ type: z.string(), id }),
    details: z.record(z.string(), z.unknown()).meta({
      description:
        'Ids, titles of documents, labels, and settings before and after. Never a secret, the name or email of a person, or a comment.',
    }),
    previous_hash: hash.meta({ description: '`hash` of the entry before; 64 zeros for the first' }),
    hash: hash.meta({
      description: 'SHA-256 (hex) of this entry without `hash`, as canonical JSON (RFC 8785)',
    }),
  })
  .meta({ id: 'AuditEntry', description: 'One change, chained to the entry before it.' });
export type AuditEntry = z.infer<typeof AuditEntry>;

const range = {
  since: inputTime.optional().meta({ description: 'Only changes made at this time or later' }),
  until: inputTime.optional().meta({ description: 'Only changes made before this time' }),
};

export const listAuditLog = operation({
  id: 'listAuditLog',
  method: 'get',
  path: '/audit-log',
  summary: 'List the audit log, newest first',
  description:
    'One entry for each change of documents, approvals, requests for acknowledgement, members, keys, links, ' +
    'templates, webhooks and settings, and for each export of the library. An entry appears some seconds after its ' +
    'change and is never changed or removed. Not in it are edits of drafts, other reads, refused requests, logins, ' +
    'withdrawn invitations, new passwords, new and deleted departments, uploaded pictures, and people added to a ' +
    'request for acknowledgement.',
  access: admin,
  query: z.object({
    ...page,
    action: queryList(z.enum(auditActions), 50)
      .optional()
      .meta({ description: 'Only these actions; repeat the parameter for several' }),
    document_id: queryList(id, 50)
      .optional()
      .meta({ description: 'Only changes of these documents; repeat the parameter for several' }),
    actor_id: id.optional().meta({ description: 'Only changes that this member made' }),
    ...range,
  }),
  status: 200,
  returns: z.array(AuditEntry),
  paged: true,
  problems: [],
});

export const exportAuditLog = operation({
  id: 'exportAuditLog',
  method: 'get',
  path: '/audit-log/export',
  summary: 'Export the audit log, oldest first',
  description:
    'All entries without a gap, from the first one at or after `since` to the last one before `until`, so that the ' +
    'chain of hashes can be verified. A line of JSON is the canonical JSON of an entry.',
  access: admin,
  query: z.object({
    format: z
      .enum(['jsonl', 'csv'], 'Pass `jsonl` or `csv`')
      .default('jsonl')
      .meta({ description: 'The programs that verify the chain read `jsonl`' }),
    ...range,
  }),
  status: 200,
  returns: media({
    'application/jsonl': { description: 'One entry per line, as canonical JSON (RFC 8785)' },
    'text/csv': {
      description:
        "One entry per row. A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets a `'`",
    },
  }),
  problems: [],
});
