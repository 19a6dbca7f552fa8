/** Defines the operations on nodes: create, update, delete, reorder, replace the whole tree. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, patchBody, stopAfterErrors } from '#libs/contract';
import { StorageQuotaExhausted } from '../../identity/contract.ts';
import { ownerEditorOrAdmin } from '../access.ts';
import { type ContentNotes, content, toContentText, warningsDescription } from '../content.ts';
import {
  ContentTooLarge,
  DocumentInApproval,
  DocumentIsArchived,
  DocumentLocked,
  NodeHierarchy,
  TooManyNodes,
  UnknownAssets,
  UnknownNodes,
} from '../problems.ts';
import {
  contentQuery,
  docParams,
  Node,
  nodeParams,
  nodeType,
  order,
  title,
  toTreeInput,
  treeInput,
  WrittenDocument,
  WrittenNode,
  wholeTreeBytes,
} from '../shapes.ts';

const parentId = z.uuid().nullable();

export const createNode = operation({
  id: 'createNode',
  method: 'post',
  path: '/documents/{doc_id}/nodes',
  summary: 'Add a section, a step or a sub-step',
  access: ownerEditorOrAdmin,
  params: docParams,
  body: z.strictObject({
    node_type: nodeType,
    title,
    order,
    parent_id: parentId
      .optional()
      .meta({ description: 'Required for steps and sub-steps; null or omitted for sections' }),
  }),
  status: 201,
  returns: Node,
  etag: true,
  problems: [
    NotFound,
    DocumentInApproval,
    DocumentIsArchived,
    DocumentLocked,
    NodeHierarchy,
    TooManyNodes,
    StorageQuotaExhausted,
  ],
});

export const updateNode = operation({
  id: 'updateNode',
  method: 'patch',
  path: '/documents/{doc_id}/nodes/{node_id}',
  summary: 'Change a node’s title, content or order, or move it',
  description:
    'Send only the fields to change; `content: null` clears the content. `parent_id` moves the node and its descendants to another parent in the same document. The ETag is that of the document. ' +
    warningsDescription,
  access: ownerEditorOrAdmin,
  params: nodeParams,
  query: contentQuery,
  body: patchBody({ title, content: content.nullable(), order, parent_id: parentId }).transform(
    ({ content, ...fields }) => {
      const notes: ContentNotes = { warnings: [], assets: [] };
      if (!content) return { ...fields, content, ...notes };
      return { ...fields, content: toContentText(content, 'body/content', notes), ...notes };
    },
  ),
  status: 200,
  returns: WrittenNode,
  etag: true,
  problems: [
    NotFound,
    DocumentInApproval,
    DocumentIsArchived,
    DocumentLocked,
    NodeHierarchy,
    ContentTooLarge,
    UnknownAssets,
    StorageQuotaExhausted,
  ],
});

export const deleteNode = operation({
  id: 'deleteNode',
  method: 'delete',
  path: '/documents/{doc_id}/nodes/{node_id}',
  summary: 'Delete a node and its descendants',
  access: ownerEditorOrAdmin,
  params: nodeParams,
  status: 204,
  returns: nothing,
  etag: true,
  problems: [NotFound, DocumentInApproval, DocumentIsArchived, DocumentLocked],
});

export const reorderNodes = operation({
  id: 'reorderNodes',
  method: 'post',
  path: '/documents/{doc_id}/nodes/reorder',
  summary: 'Set the order of several nodes',
  description:
    'Applies all changes or none. One call may contain nodes of several parents, each node at most once.',
  access: ownerEditorOrAdmin,
  params: docParams,
  body: z.strictObject({
    nodes: z
      .array(stopAfterErrors(z.strictObject({ node_id: id, order })))
      .max(10_000)
      .superRefine((nodes, context) => {
        const seen = new Set<string>();
        for (const [index, { node_id }] of nodes.entries()) {
          if (seen.has(node_id)) {
            context.addIssue({
              code: 'custom',
              message: 'This node appears twice',
              path: [index, 'node_id'],
            });
          }
          seen.add(node_id);
        }
      }),
  }),
  status: 204,
  returns: nothing,
  etag: true,
  problems: [NotFound, DocumentInApproval, DocumentIsArchived, DocumentLocked, UnknownNodes],
});

export const replaceTree = operation({
  id: 'replaceTree',
  method: 'put',
  path: '/documents/{doc_id}/nodes',
  summary: 'Replace the whole tree',
  description:
    'Replaces all nodes or none. A node with the `lineage_id` of a node of the document keeps its `id`, `created_by` and `created_at`; every other node gets a new id. ' +
    warningsDescription,
  access: ownerEditorOrAdmin,
  params: docParams,
  query: contentQuery,
  body: z.strictObject({ nodes: treeInput }).transform(({ nodes }) => {
    const notes: ContentNotes = { warnings: [], assets: [] };
    return { nodes: toTreeInput(nodes, notes), ...notes };
  }),
  maxBodyBytes: wholeTreeBytes,
  status: 200,
  returns: WrittenDocument,
  etag: true,
  problems: [
    NotFound,
    DocumentInApproval,
    DocumentIsArchived,
    DocumentLocked,
    NodeHierarchy,
    TooManyNodes,
    ContentTooLarge,
    UnknownAssets,
    StorageQuotaExhausted,
  ],
});
