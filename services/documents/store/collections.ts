/** What documents keeps in MongoDB: its collections with their fields and indexes. */
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
  /** Counts every change of the document or its tree; the ETag. */
  row_version: number;
  /** Counts the times the family's published version was archived: links of an older count are dead. */
  share_epoch: number;
  /** Counts the revisions that were made of it, so that revising collides with what would end or replace it. */
  revisions?: number;
  node_count: number;
  /** Bytes of all rich text as JSON. */
  content_bytes: number;
  /** What the title is sorted by. Rows of before get it with their words. */
  normalized_title?: string;
  /** Since when the words in `search` are out of date, or until when a process has them in hand; null when they are right. */
  reindex_at?: Date | null;
  /** When the `document.updated` event about changes of the published document is due; unset without such changes. */
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

/** One publish that counted. */
export interface LedgerRow {
  _id: string;
  organization_id: string;
  document_id: string;
  /** Year and month, UTC. */
  month: string;
  published_at: Date;
}

/** How many publish events of a limited plan are used. */
export interface UsageRow {
  /** `<organization id>:<period>:<terms version>`: another plan starts with a counter of its own, seeded from the ledger. */
  _id: string;
  used: number;
}

/** What a document is found by. */
export interface SearchRow {
  /** The document's id, or `sweepId`. */
  _id: string;
  organization_id: string;
  /** Every word of its titles and its text once, folded; at most 64 KiB. */
  words: string[];
  /** The document's row version that they were read from. */
  row_version: number;
}

const text = { type: String, required: true } as const;

/**
 * Indexes of lists by what they are sorted by; the first one also serves the counts. `status` comes before the sort key: a list
 * of several states merges one scan for each, and meets no row that it does not show.
 */
export const sortedBy = {
  updated_at: { organization_id: 1, status: 1, updated_at: -1, _id: -1 },
  normalized_title: { organization_id: 1, status: 1, normalized_title: 1, _id: 1 },
  created_at: { organization_id: 1, status: 1, created_at: -1, _id: -1 },
  published_at: { organization_id: 1, status: 1, published_at: -1, _id: -1 },
} as const;

/** Indexes of lists and counts of what a member made or edits, of a department, of the revisions of a document. */
export const belonging = {
  created_by: { organization_id: 1, created_by: 1, status: 1, updated_at: -1, _id: -1 },
  editor_id: { organization_id: 1, editor_id: 1, status: 1, updated_at: -1, _id: -1 },
  department: { organization_id: 1, department: 1, status: 1, updated_at: -1, _id: -1 },
  parent_doc_id: { organization_id: 1, parent_doc_id: 1, status: 1, updated_at: -1, _id: -1 },
} as const;

/** Rows with a value alone: a partial index serves an equality with a string only when its filter is a comparison. */
const present = (field: string) => ({ partialFilterExpression: { [field]: { $gte: '' } } });

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
    ...Object.values(sortedBy).map((on) => ({ on })),
    ...Object.entries(belonging).map(([field, on]) => ({ on, options: present(field) })),
    // the members of a family; the published one, also by those who read the view
    { on: { organization_id: 1, family_id: 1, status: 1 } },
    // whatever races, a family never has two published versions
    {
      on: { organization_id: 1, family_id: 1 },
      options: { unique: true, partialFilterExpression: { status: 'published' } },
    },
    // whose words are out of date: as good as empty
    { on: { reindex_at: 1 }, options: { partialFilterExpression: { reindex_at: { $gt: new Date(0) } } } },
    // published documents that changed in the last seconds
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
  // the children of a node, all nodes of a document, or of several whose words are read
  indexes: [{ on: { document_id: 1, parent_id: 1 } }],
});

export const search = collection<SearchRow>('search', {
  fields: { _id: String, organization_id: text, words: [String], row_version: Number },
  // the newest documents that have a word, without a look at their rows
  indexes: [{ on: { organization_id: 1, words: 1, _id: -1 } }],
});

export const publishLedger = collection<LedgerRow>('publish_ledger', {
  fields: { _id: String, organization_id: text, document_id: text, month: text, published_at: Date },
  indexes: [{ on: { organization_id: 1, month: 1 } }],
});

export const publishUsage = collection<UsageRow>('publish_usage', { fields: { _id: String, used: Number } });
