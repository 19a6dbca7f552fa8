/** Defines the read-only views of documents for other services, and the order of their rows. */
import { z } from 'zod';
import { id, view } from '#libs/contract';
import type { ApprovalState } from './rules/approval.ts';
import { blockBytes, nodeBytes } from './rules/storage-size.ts';
import { documentStatus, nodeType } from './shapes.ts';

export { assetUsage } from './asset-views.ts';
export { documentSummaries, toSummary } from './summaries.ts';

const documentState = z.object({
  _id: id,
  organization_id: id,
  /** The id of the first version; all revisions share it. */
  family_id: id,
  created_by: id,
  title: z.string(),
  version: z.string().nullable(),
  department: z.string().nullable(),
  /** A canonical BCP 47 tag. Without one, the language of the organization applies. */
  language: z.string().nullish(),
  status: documentStatus,
  published_at: z.date().nullable(),
  archived_at: z.date().nullish(),
  /** Rows from before these three fields existed do not have them. */
  content_hash: z.string().nullish(),
  change_summary: z.string().nullish(),
  /** The pending or approved request. A stage that selects its time would slow down each read of this view. */
  approval: z.custom<ApprovalState>().nullish(),
  /** The members who must approve each version; for the same reason not only whether there are any. */
  approver_ids: z.array(id).nullish(),
  /** The version whose acknowledgements count for this one, and when it was published; not in drafts. */
  baseline_id: id.nullish(),
  baseline_published_at: z.date().nullish(),
  /** When the review of a published version is due. Rows from before this field existed do not have it. */
  review_due_at: z.date().nullish(),
  /** Counts every change of the document or its tree. */
  row_version: z.number(),
  /** Counts how often the family's published version was archived. Links with a lower count are revoked. */
  share_epoch: z.number(),
});

/** The state of a document without its tree. The row is small enough to read on every request. */
export const documentStates = view({
  name: 'document_states',
  collection: 'documents',
  scope: 'organization_id',
  row: documentState,
});

/**
 * What a public link shows of a published document besides its nodes. Each request for the link reads it, and each
 * field of a view takes time.
 */
export const publishedDocuments = view({
  name: 'published_documents',
  collection: 'documents',
  scope: 'organization_id',
  stages: [{ $match: { status: 'published' } }],
  row: documentState.omit({
    ...{ created_by: true, archived_at: true, change_summary: true, approver_ids: true },
    ...{ baseline_id: true, baseline_published_at: true },
  }),
});

/** The approved requests for approval, with the names of those who approved. */
export const documentApprovals = view({
  name: 'document_approvals',
  collection: 'approvals',
  scope: 'organization_id',
  stages: [{ $match: { status: 'approved' } }],
  row: z.object({
    _id: id,
    organization_id: id,
    document_id: id,
    approvers: z.array(z.object({ name: z.string(), decided_at: z.date() })),
  }),
});

/** `countBlocks` of a document as a MongoDB expression. */
export const blocksExpression = {
  $add: [
    1,
    {
      $floor: {
        $divide: [{ $add: ['$content_bytes', { $multiply: ['$node_count', nodeBytes] }] }, blockBytes],
      },
    },
  ],
};

/** The number and size of all documents of an organization. It has no row for an organization without documents. */
export const documentUsage = view({
  name: 'document_usage',
  collection: 'documents',
  scope: '_id',
  stages: [
    { $group: { _id: '$organization_id', documents: { $sum: 1 }, blocks: { $sum: blocksExpression } } },
    { $set: { bytes: { $multiply: ['$blocks', blockBytes] } } },
  ],
  row: z.object({
    /** The id of the organization. */
    _id: id,
    documents: z.number(),
    /** The size in whole blocks. */
    bytes: z.number(),
  }),
});

/** Every version of a document, with who is responsible for it and who published it. */
export const documentVersions = view({
  name: 'document_versions',
  collection: 'documents',
  scope: 'organization_id',
  row: z.object({
    _id: id,
    organization_id: id,
    family_id: id,
    created_by: id,
    editor_id: id.nullable(),
    version: z.string().nullable(),
    published_at: z.date().nullable(),
    /** The user who published the version. Rows from before this field existed do not have it. */
    published_by: id.nullish(),
    created_at: z.date(),
    updated_at: z.date(),
  }),
});

/** What the export of a library says about a document besides its words. */
export const libraryDocuments = view({
  name: 'library_documents',
  collection: 'documents',
  scope: 'organization_id',
  row: z.object({
    _id: id,
    organization_id: id,
    parent_doc_id: id.nullable(),
    department: z.string().nullable(),
    language: z.string().nullish(),
    status: documentStatus,
    published_at: z.date().nullable(),
    archived_at: z.date().nullable(),
    updated_at: z.date(),
    /** Rows from before this field existed do not have it. */
    content_hash: z.string().nullish(),
    row_version: z.number(),
  }),
});

/** The nodes of a document. `content` is rich text as JSON text. */
export const documentNodes = view({
  name: 'document_nodes',
  collection: 'nodes',
  scope: 'document_id',
  row: z.object({
    _id: id,
    document_id: id,
    parent_id: id.nullable(),
    node_type: nodeType,
    title: z.string(),
    content: z.string().nullable(),
    order: z.number(),
    /** The ids of the assets that the content names. Absent if it names none. */
    asset_ids: z.array(z.string()).optional(),
  }),
});

/** The fields of a node that give its place in the tree. */
export interface NodePlace {
  _id: string;
  parent_id: string | null;
  order: number;
}

/** The children of each node in their order, by the id of the parent. The key of the sections is null. */
export type NodesByParent<Node> = ReadonlyMap<string | null, readonly Node[]>;

/** Groups nodes by parent. Siblings are sorted by `order`, then by creation, because ids sort by time. */
export function groupByParent<Node extends NodePlace>(nodes: Iterable<Node>): NodesByParent<Node> {
  const groups = Map.groupBy(nodes, ({ parent_id }) => parent_id);
  for (const siblings of groups.values())
    siblings.sort((a, b) => a.order - b.order || (a._id < b._id ? -1 : 1));
  return groups;
}

/** Every publish that counts towards the quota. */
export const publishRecords = view({
  name: 'publish_records',
  collection: 'publish_ledger',
  scope: 'organization_id',
  row: z.object({ organization_id: id, month: z.string() }),
});
