/** Declares the MongoDB collections of the documents service, with their fields and indexes. */
import { collection } from '#libs/store';
import type { DocumentStatus, NodeType } from '../shapes.ts';

export interface DocumentRow {
  _id: string;
  organization_id: string;
  /** The id of the first version; all revisions share it. */
  family_id: string;
  created_by: string;
  editor_id: string | null;
  parent_doc_id: string | null;
  title: string;
  version: string | null;
  department: string | null;
  status: DocumentStatus;
  published_at: Date | null;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
  /** Counts every change of the document or its tree. Used as the ETag. */
  row_version: number;
  /** Counts how often the family's published version was archived. Links with a lower count are revoked. */
  share_epoch: number;
  /** Counts the revisions of this document. Makes revising conflict with archiving and publishing. */
  revisions?: number;
  node_count: number;
  /** Bytes of all rich text as JSON. */
  content_bytes: number;
  /** The sort key of the title. Rows from before this field existed get it from the search index worker. */
  normalized_title?: string;
  /** Since when the words in `search` are outdated, or the end of a lease. Null if they are up to date. */
  reindex_at?: Date | null;
  /** When the `document.updated` event of the published document is due. Unset without changes. */
  update_event_due_at?: Date;
}

export interface NodeRow {
  _id: string;
  organization_id: string;
  document_id: string;
  parent_id: string | null;
  node_type: NodeType;
  title: string;
  /** Rich text as JSON text. */
  content: string | null;
  order: number;
  created_by: string;
  created_at: Date;
  updated_at: Date;
}

/** One publish that counts towards the quota. */
export interface LedgerRow {
  _id: string;
  organization_id: string;
  document_id: string;
  /** Year and month, UTC. */
  month: string;
  published_at: Date;
}

/** The number of used publish events of a limited plan. */
export interface UsageRow {
  /** `<organization id>:<period>:<terms version>`. A new plan gets a new counter, created from the ledger. */
  _id: string;
  used: number;
}

/** The words of a document in the search index. */
export interface SearchRow {
  /** The document's id, or the id of the backfill marker. */
  _id: string;
  organization_id: string;
  /** Every normalized word of the titles and text, once; at most 64 KiB. */
  words: string[];
  /** The row version of the document that the words were read from. */
  row_version: number;
}

const text = { type: String, required: true } as const;

/**
 * Indexes of lists, by sort field; the first one also serves the counts. `status` comes before the sort key:
 * a list of several statuses merges one scan per status and reads only the rows that it returns.
 */
export const sortIndexes = {
  updated_at: { organization_id: 1, status: 1, updated_at: -1, _id: -1 },
  normalized_title: { organization_id: 1, status: 1, normalized_title: 1, _id: 1 },
  created_at: { organization_id: 1, status: 1, created_at: -1, _id: -1 },
  published_at: { organization_id: 1, status: 1, published_at: -1, _id: -1 },
} as const;

/** Indexes of lists and counts that are filtered by creator, editor, department or revised document. */
export const filterIndexes = {
  created_by: { organization_id: 1, created_by: 1, status: 1, updated_at: -1, _id: -1 },
  editor_id: { organization_id: 1, editor_id: 1, status: 1, updated_at: -1, _id: -1 },
  department: { organization_id: 1, department: 1, status: 1, updated_at: -1, _id: -1 },
  parent_doc_id: { organization_id: 1, parent_doc_id: 1, status: 1, updated_at: -1, _id: -1 },
} as const;

/** Indexes only rows with a value. MongoDB uses this index for strings only if the filter compares. */
const whenPresent = (field: string) => ({ partialFilterExpression: { [field]: { $gte: '' } } });

export const documents = collection<DocumentRow>('documents', {
  fields: {
    _id: String,
    organization_id: text,
    family_id: text,
    created_by: text,
    editor_id: String,
    parent_doc_id: String,
    title: text,
    version: String,
    department: String,
    status: text,
    published_at: Date,
    archived_at: Date,
    created_at: Date,
    updated_at: Date,
    row_version: Number,
    share_epoch: Number,
    revisions: Number,
    node_count: Number,
    content_bytes: Number,
    normalized_title: String,
    reindex_at: Date,
    update_event_due_at: Date,
  },
  indexes: [
    ...Object.values(sortIndexes).map((on) => ({ on })),
    ...Object.entries(filterIndexes).map(([field, on]) => ({ on, options: whenPresent(field) })),
    // all versions of a family, or the published one; also used through the view
    { on: { organization_id: 1, family_id: 1, status: 1 } },
    // a family never has two published versions, even after concurrent publishes
    {
      on: { organization_id: 1, family_id: 1 },
      options: { unique: true, partialFilterExpression: { status: 'published' } },
    },
    // documents with outdated words: almost empty
    { on: { reindex_at: 1 }, options: { partialFilterExpression: { reindex_at: { $gt: new Date(0) } } } },
    // published documents that changed in the last few seconds
    {
      on: { update_event_due_at: 1 },
      options: { partialFilterExpression: { update_event_due_at: { $gt: new Date(0) } } },
    },
  ],
});

export const nodes = collection<NodeRow>('nodes', {
  fields: {
    _id: String,
    organization_id: text,
    document_id: text,
    parent_id: String,
    node_type: text,
    title: text,
    content: String,
    order: Number,
    created_by: text,
    created_at: Date,
    updated_at: Date,
  },
  // the children of a node, all nodes of one document, or of several documents to index
  indexes: [{ on: { document_id: 1, parent_id: 1 } }],
});

export const search = collection<SearchRow>('search', {
  fields: { _id: String, organization_id: text, words: [String], row_version: Number },
  // the newest documents with a word, from index keys alone
  indexes: [{ on: { organization_id: 1, words: 1, _id: -1 } }],
});

export const publishLedger = collection<LedgerRow>('publish_ledger', {
  fields: { _id: String, organization_id: text, document_id: text, month: text, published_at: Date },
  indexes: [{ on: { organization_id: 1, month: 1 } }],
});

export const publishUsage = collection<UsageRow>('publish_usage', { fields: { _id: String, used: Number } });
