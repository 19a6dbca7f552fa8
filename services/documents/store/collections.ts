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

const text = { type: String, required: true } as const;

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
  },
  indexes: [
    { on: { organization_id: 1, updated_at: -1, _id: -1 } },
    { on: { organization_id: 1, status: 1, updated_at: -1, _id: -1 } },
    { on: { organization_id: 1, family_id: 1, status: 1 } },
    { on: { organization_id: 1, editor_id: 1 } },
    // whatever races, a family never has two published versions
    {
      on: { organization_id: 1, family_id: 1 },
      options: { unique: true, partialFilterExpression: { status: 'published' } },
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
  indexes: [{ on: { document_id: 1, parent_id: 1 } }],
});

export const publishLedger = collection<LedgerRow>('publish_ledger', {
  fields: { _id: String, organization_id: text, document_id: text, month: text, published_at: Date },
  indexes: [{ on: { organization_id: 1, month: 1 } }],
});

export const publishUsage = collection<UsageRow>('publish_usage', { fields: { _id: String, used: Number } });
