/** Operations of a document's life: publishing, revising, archiving, its editor, its history, its webhooks. */
import { z } from 'zod';
import { Forbidden, id, NotFound, operation, PreconditionFailed } from '#libs/contract';
import { member } from '../../identity/contract.ts';
import {
  DocumentIsArchived,
  DocumentNotDraft,
  DocumentNotPublished,
  EditorNotMember,
  PublishQuotaExhausted,
  VersionUnchanged,
} from '../problems.ts';
import { ArchiveRecord, Document, docParams, HistoryRecord } from '../shapes.ts';

export const publishDocument = operation({
  id: 'publishDocument',
  method: 'post',
  path: '/documents/{doc_id}/publish',
  summary: 'Publish a draft',
  description:
    'Consumes one publish event of the plan. Publishing a revision archives the published version it replaces; the public link follows. If the organization has `lock_published` on, a revision needs another version than its parent; a parent without a version never blocks.',
  access: member,
  permission: 'The owner or an admin may publish.',
  params: docParams,
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, Forbidden, DocumentNotDraft, VersionUnchanged, PublishQuotaExhausted],
});

export const reviseDocument = operation({
  id: 'reviseDocument',
  method: 'post',
  path: '/documents/{doc_id}/revise',
  summary: 'Make a revision draft of a published document',
  description:
    'The draft has the same title, version, department, editor, tree and owner; `parent_doc_id` names the original, which stays published and keeps its link meanwhile.',
  access: member,
  permission: 'The owner or an admin may revise.',
  params: docParams,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  problems: [NotFound, Forbidden, DocumentNotPublished],
});

export const archiveDocument = operation({
  id: 'archiveDocument',
  method: 'post',
  path: '/documents/{doc_id}/archive',
  summary: 'Archive a published document',
  description: 'It leaves the library and is kept, read-only. Its public link stops for good.',
  access: member,
  permission: 'The owner or an admin may archive.',
  params: docParams,
  status: 200,
  returns: ArchiveRecord,
  etag: true,
  problems: [NotFound, Forbidden, DocumentNotPublished],
});

export const listVersions = operation({
  id: 'listVersions',
  method: 'get',
  path: '/documents/{doc_id}/history',
  summary: 'List the published versions of a document, the oldest first',
  description: 'The same for every version of a document; empty while it was never revised.',
  access: member,
  params: docParams,
  status: 200,
  returns: z.array(HistoryRecord),
  problems: [NotFound],
});

export const assignEditor = operation({
  id: 'assignEditor',
  method: 'patch',
  path: '/documents/{doc_id}/editor',
  summary: 'Assign the editor, or remove it with null',
  description: 'Every assignment fires `document.assigned`.',
  access: member,
  permission: 'The owner or an admin may assign the editor.',
  params: docParams,
  body: z.strictObject({ editor_id: id.nullable() }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, Forbidden, DocumentIsArchived, EditorNotMember],
});

export const triggerWebhooks = operation({
  id: 'triggerWebhooks',
  method: 'post',
  path: '/documents/{doc_id}/trigger-webhooks',
  summary: 'Fire an event of a document again, without changing it',
  description:
    '`dispatched` says whether an active webhook subscribes to the event. The payload carries `"refired": true`.',
  access: member,
  permission: 'The owner or an admin may fire an event again.',
  params: docParams,
  body: z.strictObject({
    event_type: z.enum(['document.published', 'document.revised', 'document.archived']),
  }),
  status: 202,
  returns: z.strictObject({ dispatched: z.boolean() }),
  problems: [NotFound, Forbidden, PreconditionFailed],
});
