/** Defines the lifecycle operations of a document, from publishing to triggering its webhooks. */
import { z } from 'zod';
import { id, NotFound, operation, PreconditionFailed } from '#libs/contract';
import { member, ownerOrAdmin, StorageQuotaExhausted } from '../../identity/contract.ts';
import {
  ApprovalMissing,
  DocumentIsArchived,
  DocumentNotArchived,
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
    'Consumes one publish event of the plan and sets `content_hash`. Publishing a revision archives the published version it replaces, and the public link then shows the revision. If the organization enables `lock_published`, the version of a revision must differ from that of its parent, unless the parent has no version. A draft that needs approval can only be published after all its approvers have approved it.',
  access: ownerOrAdmin('publish this document'),
  params: docParams,
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, DocumentNotDraft, ApprovalMissing, VersionUnchanged, PublishQuotaExhausted],
});

export const reviseDocument = operation({
  id: 'reviseDocument',
  method: 'post',
  path: '/documents/{doc_id}/revise',
  summary: 'Create a revision draft of a published document',
  description:
    'The draft copies the title, version, department, language, editor, tree and owner. Nodes keep their `lineage_id`. `parent_doc_id` is the id of the original. The original stays published and keeps its public link until the revision is published.',
  access: ownerOrAdmin('revise this document'),
  params: docParams,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  problems: [NotFound, DocumentNotPublished, StorageQuotaExhausted],
});

export const restoreDocument = operation({
  id: 'restoreDocument',
  method: 'post',
  path: '/documents/{doc_id}/restore',
  summary: 'Create a draft from an archived document',
  description:
    'Creates a revision draft of the published version with the title, department and tree of the archived one. If no version is published, the draft is a revision of the archived one. Nodes keep their `lineage_id`. The archived version does not change.',
  access: ownerOrAdmin('restore this document'),
  params: docParams,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  problems: [NotFound, DocumentNotArchived, StorageQuotaExhausted],
});

export const archiveDocument = operation({
  id: 'archiveDocument',
  method: 'post',
  path: '/documents/{doc_id}/archive',
  summary: 'Archive a published document',
  description: 'An archived document is kept but read-only. Its public link stops working permanently.',
  access: ownerOrAdmin('archive this document'),
  params: docParams,
  status: 200,
  returns: ArchiveRecord,
  etag: true,
  problems: [NotFound, DocumentNotPublished],
});

export const listVersions = operation({
  id: 'listVersions',
  method: 'get',
  path: '/documents/{doc_id}/history',
  summary: 'List the published versions of a document, oldest first',
  description:
    'Returns the same list for every version of a document. The list is empty if the document was never revised.',
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
  description: 'Every assignment publishes `document.assigned`; removing the editor does not.',
  access: ownerOrAdmin('assign the editor of this document'),
  params: docParams,
  body: z.strictObject({ editor_id: id.nullable() }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, DocumentIsArchived, EditorNotMember],
});

export const triggerWebhooks = operation({
  id: 'triggerWebhooks',
  method: 'post',
  path: '/documents/{doc_id}/trigger-webhooks',
  summary: 'Trigger webhooks again for an event of a document',
  description:
    'Does not change the document. `dispatched` is true if the plan includes webhooks and an active webhook subscribes to the event, or a listener exists. The payload contains `"refired": true`.',
  access: ownerOrAdmin('trigger webhooks for this document'),
  params: docParams,
  body: z.strictObject({
    event_type: z.enum(['document.published', 'document.revised', 'document.archived']),
  }),
  status: 202,
  returns: z.strictObject({ dispatched: z.boolean() }).meta({ id: 'TriggeredWebhooks' }),
  problems: [NotFound, PreconditionFailed],
});
