/** Defines the operations that create, update, delete and duplicate documents. */
import { NotFound, nothing, operation, PreconditionFailed, patchBody } from '#libs/contract';
import { member, ownerOrAdmin, StorageQuotaExhausted } from '../../identity/contract.ts';
import { ownerEditorOrAdmin } from '../access.ts';
import { warningsDescription } from '../content.ts';
import { newDocument } from '../new-document.ts';
import {
  ContentTooLarge,
  DocumentInApproval,
  DocumentIsArchived,
  DocumentLocked,
  DocumentNotDraft,
  NodeHierarchy,
  TooManyNodes,
  UnknownAssets,
  VersionUnchanged,
} from '../problems.ts';
import {
  changeSummary,
  contentQuery,
  Document,
  department,
  docParams,
  language,
  minorChange,
  title,
  versionLabel,
  WrittenDocument,
  wholeTreeBytes,
} from '../shapes.ts';

export const createDocument = operation({
  id: 'createDocument',
  method: 'post',
  path: '/documents',
  summary: 'Create a draft, empty or with its whole tree',
  description: warningsDescription,
  access: member,
  query: contentQuery,
  body: newDocument,
  maxBodyBytes: wholeTreeBytes,
  status: 201,
  returns: WrittenDocument,
  location: '/documents/{id}',
  etag: true,
  // NotFound: a replayed request whose document was deleted in the meantime
  problems: [NotFound, NodeHierarchy, TooManyNodes, ContentTooLarge, UnknownAssets, StorageQuotaExhausted],
});

export const updateDocument = operation({
  id: 'updateDocument',
  method: 'patch',
  path: '/documents/{doc_id}',
  summary: 'Change a document’s title, version, department, language or change summary',
  description:
    'Send only the fields to change; `null` clears a field. If the document has these values already, nothing changes, also not its ETag. A change of a published document clears its `content_hash` and publishes `document.updated`. The `version` of a revision draft must differ from that of the document it revises. `change_summary` and `minor_change` can be set only in a draft.',
  access: ownerEditorOrAdmin,
  params: docParams,
  body: patchBody({
    title,
    version: versionLabel.nullable(),
    department: department.nullable(),
    language: language.nullable(),
    change_summary: changeSummary.nullable(),
    minor_change: minorChange,
  }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [
    NotFound,
    DocumentIsArchived,
    DocumentInApproval,
    DocumentNotDraft,
    DocumentLocked,
    VersionUnchanged,
  ],
});

export const deleteDocument = operation({
  id: 'deleteDocument',
  method: 'delete',
  path: '/documents/{doc_id}',
  summary: 'Delete a draft permanently',
  description: 'Published and archived documents cannot be deleted.',
  access: ownerOrAdmin('delete this document'),
  params: docParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, PreconditionFailed, DocumentNotDraft, DocumentInApproval],
});

export const duplicateDocument = operation({
  id: 'duplicateDocument',
  method: 'post',
  path: '/documents/{doc_id}/duplicate',
  summary: 'Copy a document to a new draft',
  description:
    'Copies the title, version, department, language and tree of a document in any status. You own the draft, and it starts a new history: its nodes have a new `lineage_id`.',
  access: member,
  params: docParams,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  problems: [NotFound, StorageQuotaExhausted],
});
