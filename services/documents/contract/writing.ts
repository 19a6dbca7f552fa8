/** Operations that make, change and delete documents. */
import { z } from 'zod';
import { Forbidden, NotFound, nothing, operation, PreconditionFailed, patchBody } from '#libs/contract';
import { member } from '../../identity/contract.ts';
import {
  ContentTooLarge,
  DocumentIsArchived,
  DocumentLocked,
  DocumentNotDraft,
  NodeHierarchy,
  TooManyNodes,
  VersionUnchanged,
} from '../problems.ts';
import {
  Document,
  department,
  docParams,
  title,
  treeInput,
  versionLabel,
  wholeTreeBytes,
} from '../shapes.ts';

export const createDocument = operation({
  id: 'createDocument',
  method: 'post',
  path: '/documents',
  summary: 'Create a draft, blank or with its whole tree',
  access: member,
  body: z.strictObject({
    title,
    version: versionLabel.nullish(),
    department: department.nullish(),
    nodes: z.array(treeInput).max(10_000).optional(),
  }),
  maxBodyBytes: wholeTreeBytes,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  // not found: what a repeated request made and somebody deleted since
  problems: [NotFound, NodeHierarchy, TooManyNodes, ContentTooLarge],
});

export const updateDocument = operation({
  id: 'updateDocument',
  method: 'patch',
  path: '/documents/{doc_id}',
  summary: 'Change a document’s title, version or department',
  description:
    'Send only what changes; `null` clears `version` and `department`. The change of a published document is announced by `document.updated`. On a revision draft, `version` must differ from that of the document it revises.',
  access: member,
  permission: 'The owner, the editor or an admin may change a draft or a published document.',
  params: docParams,
  body: patchBody({ title, version: versionLabel.nullable(), department: department.nullable() }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, Forbidden, DocumentIsArchived, DocumentLocked, VersionUnchanged],
});

export const deleteDocument = operation({
  id: 'deleteDocument',
  method: 'delete',
  path: '/documents/{doc_id}',
  summary: 'Delete a draft for good',
  description: 'Published and archived documents are kept.',
  access: member,
  permission: 'The owner or an admin may delete it.',
  params: docParams,
  status: 204,
  returns: nothing,
  problems: [NotFound, Forbidden, PreconditionFailed, DocumentNotDraft],
});

export const duplicateDocument = operation({
  id: 'duplicateDocument',
  method: 'post',
  path: '/documents/{doc_id}/duplicate',
  summary: 'Make a new draft with the same title, version, department and tree',
  description: 'Works in any state of the document. The draft is yours and starts a history of its own.',
  access: member,
  params: docParams,
  status: 201,
  returns: Document,
  location: '/documents/{id}',
  etag: true,
  problems: [NotFound],
});
