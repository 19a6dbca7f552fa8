/** Declares the MongoDB collections of the documents service: their rows and indexes. */
import { z } from 'zod';
import { id } from '#libs/contract';
import { binary, collection, type StoredRow } from '#libs/store';
import { Approval } from '../approval-shapes.ts';
import { Asset } from '../asset-shapes.ts';
import type { ApprovalState } from '../rules/approval.ts';
import type { SentNotice } from '../rules/review.ts';
import { DocumentSummary, nodeFields } from '../shapes.ts';
import { filterIndexes, sortIndexes } from './list-indexes.ts';

/** Indexes only rows with a value. MongoDB uses this index for strings only if the filter compares. */
const whenPresent = (field: string) => ({ partialFilterExpression: { [field]: { $gte: '' } } });

export const documents = collection('documents', {
  row: DocumentSummary.omit({ id: true, review: true }).extend({
    _id: id,
    /** The id of the first version; all revisions share it. */
    family_id: id,
    /** Rows from before this field existed do not have it. */
    language: z.string().nullable().exactOptional(),
    published_at: z.date().nullable(),
    /** The user who published the document. Rows from before this field existed do not have it. */
    published_by: id.exactOptional(),
    archived_at: z.date().nullable(),
    /** Rows from before these three fields existed do not have them. */
    content_hash: z.string().nullable().exactOptional(),
    change_summary: z.string().nullable().exactOptional(),
    minor_change: z.boolean().exactOptional(),
    /** Only in published and archived versions: see `findBaseline`. Rows from before these fields existed lack them. */
    baseline_id: id.exactOptional(),
    baseline_published_at: z.date().exactOptional(),
    /** The approvers of all versions. Rows from before this field existed do not have it. */
    approver_ids: z.array(id).exactOptional(),
    /** The pending or approved request. Rows from before this field existed do not have it. */
    approval: z.custom<ApprovalState | null>().exactOptional(),
    /** The users who wrote the draft. Rows from before this field existed do not have it: see `listContributors`. */
    contributor_ids: z.array(id).exactOptional(),
    /** Reviewer and interval of all versions. Rows from before a field about the review existed do not have it. */
    reviewer_id: id.nullable().exactOptional(),
    review_months: z.number().nullable().exactOptional(),
    /** When this version was last confirmed, and when its review is due: only while it is published. */
    reviewed_at: z.date().nullable().exactOptional(),
    review_due_at: z.date().nullable().exactOptional(),
    /** When the next notice about the review is to be sent, and which ones were sent. */
    review_notice_at: z.date().nullable().exactOptional(),
    review_notices: z.custom<readonly SentNotice[]>().exactOptional(),
    created_at: z.date(),
    updated_at: z.date(),
    /** Counts every change of the document or its tree. Used as the ETag. */
    row_version: z.number(),
    /** Counts how often the family's published version was archived. Links with a lower count are revoked. */
    share_epoch: z.number(),
    /** Counts the revisions of this document. Makes revising conflict with archiving and publishing. */
    revisions: z.number().exactOptional(),
    node_count: z.number(),
    /** Bytes of all rich text as JSON. */
    content_bytes: z.number(),
    /** The blocks that `storage_usage` counts for this document. Absent if it does not count the document. */
    charged_blocks: z.number().exactOptional(),
    /** The sort key of the title. Rows from before this field existed get it from the search index worker. */
    normalized_title: z.string().exactOptional(),
    /** Since when the words in `search` are outdated. Null if they are up to date. */
    reindex_at: z.date().nullable().exactOptional(),
    /** When the `document.updated` event of the published document is due. Unset without changes. */
    update_event_due_at: z.date().exactOptional(),
  }),
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
    // documents of a reviewer, who may leave
    { on: { organization_id: 1, reviewer_id: 1 }, options: whenPresent('reviewer_id') },
    // published documents with an interval, of which the next notice is to be sent
    {
      on: { review_notice_at: 1 },
      options: { partialFilterExpression: { review_notice_at: { $gt: new Date(0) } } },
    },
    // published documents that changed in the last few seconds
    {
      on: { update_event_due_at: 1 },
      options: { partialFilterExpression: { update_event_due_at: { $gt: new Date(0) } } },
    },
  ],
});
export type DocumentRow = StoredRow<typeof documents>;

/** The fields of a row that a summary shows as its review. */
export const reviewFields = ['reviewer_id', 'review_months', 'reviewed_at', 'review_due_at'] as const;

export const nodes = collection('nodes', {
  row: z
    .object(nodeFields)
    .omit({ id: true })
    .extend({
      _id: id,
      organization_id: id,
      /** Rows from before this field existed do not have it: `getLineageId` reads it. */
      lineage_id: id.exactOptional(),
      /** Rich text as JSON text. */
      content: z.string().nullable(),
      /** The ids of the assets that the rich text names, each once. Absent if it names none. */
      asset_ids: z.array(z.string()).exactOptional(),
      created_at: z.date(),
      updated_at: z.date(),
    }),
  indexes: [
    // the children of a node, all nodes of one document, or of several documents to index
    { on: { document_id: 1, parent_id: 1 } },
    // the nodes that name an asset; others are not in the index
    { on: { asset_ids: 1 }, options: { sparse: true } },
  ],
});
export type NodeRow = StoredRow<typeof nodes>;

/** The pictures of an organization. Only `unreferenced_at` changes. */
export const assets = collection('assets', {
  row: Asset.omit({ id: true, src: true }).extend({
    /** See `toAssetKey`. */
    _id: z.string(),
    organization_id: id,
    /** The SHA-256 of the stored bytes. */
    asset_id: z.string(),
    created_at: z.date(),
    /** Since when no node names the asset, at the earliest its upload. Absent while a node names it. */
    unreferenced_at: z.date().exactOptional(),
  }),
  indexes: [
    { on: { unreferenced_at: 1 }, options: { sparse: true } },
    // the size of all assets of an organization, from index keys alone
    { on: { organization_id: 1, size_bytes: 1 } },
  ],
});
export type AssetRow = StoredRow<typeof assets>;

/** The bytes of the assets. */
export const assetFiles = collection('asset_files', {
  row: z.object({
    /** That of the asset. */
    _id: z.string(),
    organization_id: id,
    asset_id: z.string(),
    media_type: z.string(),
    bytes: binary,
  }),
});
export type AssetFileRow = StoredRow<typeof assetFiles>;

/** Requests for approval, also of deleted drafts. */
export const approvals = collection('approvals', {
  row: Approval.omit({ id: true }).extend({
    _id: id,
    organization_id: id,
    approvers: z.array(Approval.shape.approvers.element.extend({ decided_at: z.date().nullable() })),
    created_at: z.date(),
  }),
  // newest first: all of an organization, of a status, of a document, or those that await a member
  indexes: [
    { on: { organization_id: 1, _id: -1 } },
    { on: { organization_id: 1, status: 1, _id: -1 } },
    { on: { organization_id: 1, document_id: 1, _id: -1 } },
    { on: { organization_id: 1, 'approvers.member_id': 1, status: 1, _id: -1 } },
  ],
});
export type ApprovalRow = StoredRow<typeof approvals>;

/** The words of a document in the search index. */
export const search = collection('search', {
  row: z.object({
    /** The document's id, or the id of the lease or of the backfill marker, which have no words. */
    _id: z.string(),
    organization_id: z.string(),
    /** Every normalized word of the titles and text, once; at most 64 KiB. */
    words: z.array(z.string()),
    /** At least the size of `words`, see `WordBag`. Absent or too small if an older version wrote them last. */
    word_bytes: z.number().exactOptional(),
    /** The row version of the document whose words these are. */
    row_version: z.number(),
    /** Only in the row of the lease: its holder and its end. */
    leased_by: id.exactOptional(),
    leased_until: z.date().exactOptional(),
  }),
  // the newest documents with a word, from index keys alone
  indexes: [{ on: { organization_id: 1, words: 1, _id: -1 } }],
});
export type SearchRow = StoredRow<typeof search>;

/** Every publish that counts towards the quota. */
export const publishLedger = collection('publish_ledger', {
  row: z.object({
    _id: id,
    organization_id: id,
    document_id: id,
    /** Year and month, UTC. */
    month: z.string(),
    published_at: z.date(),
  }),
  indexes: [{ on: { organization_id: 1, month: 1 } }],
});

/** The charged documents of an organization that has or had a plan with a limit of documents. */
export const storageUsage = collection('storage_usage', {
  row: z.object({
    /** The id of the organization. */
    _id: id,
    /** The number of documents with `charged_blocks`. */
    documents: z.number(),
    /** The sum of their `charged_blocks`. */
    blocks: z.number(),
    /** The version of the plan for which all documents were charged. */
    terms_version: z.number(),
    /** When the documents are charged again, for those that a process wrote before it knew the new plan. */
    recount_at: z.date().exactOptional(),
  }),
});
export type StorageUsageRow = StoredRow<typeof storageUsage>;

/** The number of used publish events of a limited plan. */
export const publishUsage = collection('publish_usage', {
  row: z.object({
    /** `<organization id>:<period>:<terms version>`. A new plan gets a new counter, created from the ledger. */
    _id: z.string(),
    used: z.number(),
  }),
});

/** All collections of documents. */
export const documentCollections = [
  ...[documents, nodes, assets, assetFiles, approvals, publishLedger, publishUsage, search, storageUsage],
];
