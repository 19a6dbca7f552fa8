/** What documents offers: process documents as trees of nodes, and their way from draft to published. */
import { z } from 'zod';
import { contract, Forbidden, NotFound, operation, page, problem } from '#libs/contract';
import { member, principalViews, subscriptionTerms } from '../identity/contract.ts';
import { DocumentArchived, DocumentAssigned, DocumentPublished, DocumentRevised } from './events.ts';
import {
  Document,
  DocumentSummary,
  department,
  docParams,
  documentStatus,
  Node,
  nodeType,
  order,
  title,
  treeInput,
  versionLabel,
} from './shapes.ts';
import { documentNodes, documentStates, publishRecords } from './views.ts';

export * from './events.ts';
export { Document, DocumentSummary, Node, type TreeInput } from './shapes.ts';
export * from './views.ts';

// ── Problems ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const DocumentNotDraft = problem(
  'document_not_draft',
  400,
  'Only a draft can do this; revise the document to get one.',
);
export const DocumentIsArchived = problem('document_archived', 400, 'An archived document is read-only.');
export const NodeHierarchy = problem(
  'node_hierarchy',
  400,
  'Sections have no parent, steps stand in a section, sub-steps in a step of the same document.',
);
export const TooManyNodes = problem('too_many_nodes', 400, 'A document holds at most 10,000 nodes.');
export const ContentTooLarge = problem(
  'content_too_large',
  400,
  'The content of a document is at most 32 MiB in all.',
);
export const PublishQuotaExhausted = problem(
  'publish_quota_exhausted',
  402,
  'The plan’s publish events are used up.',
);

// ── Operations ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  maxBodyBytes: 32 * 1024 * 1024,
  status: 201,
  returns: Document,
  etag: true,
  problems: [NodeHierarchy, TooManyNodes, ContentTooLarge],
});

export const listDocuments = operation({
  id: 'listDocuments',
  method: 'get',
  path: '/documents',
  summary: 'List documents, the most recently updated first',
  description: 'Archived documents are left out unless `status` asks for them.',
  access: member,
  query: z.object({ ...page, status: documentStatus.optional() }),
  status: 200,
  returns: z.array(DocumentSummary),
  paged: true,
  problems: [],
});

export const getDocument = operation({
  id: 'getDocument',
  method: 'get',
  path: '/documents/{doc_id}',
  summary: 'Get a document with its whole tree',
  access: member,
  params: docParams,
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound],
});

export const createNode = operation({
  id: 'createNode',
  method: 'post',
  path: '/documents/{doc_id}/nodes',
  summary: 'Add a section, a step or a sub-step',
  access: member,
  params: docParams,
  body: z.strictObject({
    node_type: nodeType,
    title,
    order,
    parent_id: z
      .uuid()
      .nullish()
      .meta({ description: 'Required for steps and sub-steps; must be omitted for sections' }),
  }),
  status: 201,
  returns: Node,
  etag: true,
  problems: [NotFound, Forbidden, DocumentIsArchived, NodeHierarchy, TooManyNodes],
});

export const publishDocument = operation({
  id: 'publishDocument',
  method: 'post',
  path: '/documents/{doc_id}/publish',
  summary: 'Publish a draft',
  description: 'Consumes one publish event of the plan. The owner or an admin may publish.',
  access: member,
  params: docParams,
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, Forbidden, DocumentNotDraft, PublishQuotaExhausted],
});

export const documentsContract = contract({
  name: 'documents',
  title: 'Documents',
  sentence: 'Process documents, their trees and their life.',
  operations: [createDocument, listDocuments, getDocument, createNode, publishDocument],
  says: [DocumentPublished, DocumentRevised, DocumentArchived, DocumentAssigned],
  hears: [],
  owns: ['documents', 'nodes', 'publish_ledger', 'publish_usage'],
  views: [documentStates, documentNodes, publishRecords],
  reads: [...principalViews, subscriptionTerms],
});
