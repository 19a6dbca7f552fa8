/** The public interface of the documents service: operations, events, problems and views. */
import { contract } from '#libs/contract';
import {
  ApiKeyUsed,
  MemberRemoved,
  memberProfiles,
  organizationProfiles,
  principalViews,
} from '../identity/contract.ts';
import { liveWebhookListeners, webhookSubscriptions } from '../webhook-delivery/views.ts';
import { assetBytes, assetDetails, assetUsage } from './asset-views.ts';
import * as approvals from './contract/approvals.ts';
import * as assets from './contract/assets.ts';
import { compareVersions } from './contract/comparing.ts';
import * as finding from './contract/finding.ts';
import * as importing from './contract/importing.ts';
import * as lifecycle from './contract/lifecycle.ts';
import * as reviewing from './contract/reviewing.ts';
import * as tree from './contract/tree.ts';
import * as writing from './contract/writing.ts';
import {
  ApprovalApproved,
  ApprovalDecided,
  ApprovalRejected,
  ApprovalRequested,
  ApprovalWithdrawn,
  DocumentApproversUpdated,
  DocumentArchived,
  DocumentAssigned,
  DocumentDeleted,
  DocumentEdited,
  DocumentPublished,
  DocumentReviewDue,
  DocumentReviewed,
  DocumentReviewUpdated,
  DocumentRevised,
  DocumentUnassigned,
  DocumentUpdated,
} from './events.ts';
import {
  documentApprovals,
  documentNodes,
  documentStates,
  documentSummaries,
  documentUsage,
  documentVersions,
  libraryDocuments,
  publishedDocuments,
  publishRecords,
} from './views.ts';

export { Approval } from './approval-shapes.ts';
export { Asset, assetId, assetType, maxAssetBytes, pictureMedia } from './asset-shapes.ts';
export * from './asset-views.ts';
export { content } from './content.ts';
export * from './contract/approvals.ts';
export * from './contract/assets.ts';
export * from './contract/comparing.ts';
export * from './contract/finding.ts';
export * from './contract/importing.ts';
export * from './contract/lifecycle.ts';
export * from './contract/reviewing.ts';
export * from './contract/tree.ts';
export * from './contract/writing.ts';
export * from './events.ts';
export * from './html-file.ts';
export * from './library-archive.ts';
export * from './problems.ts';
export {
  Document,
  type DocumentStatus,
  documentStatus,
  Node,
  nodeType,
  type TreeInput,
} from './shapes.ts';
export * from './views.ts';

export const documentsContract = contract({
  name: 'documents',
  title: 'Documents',
  description: 'Process documents, their trees and their lifecycle.',
  operations: [
    ...[writing, finding, tree, lifecycle, importing].flatMap((file) => Object.values(file)),
    compareVersions,
    ...[approvals, reviewing, assets].flatMap((file) => Object.values(file)),
  ],
  publishes: [
    DocumentPublished,
    DocumentRevised,
    DocumentUpdated,
    DocumentEdited,
    DocumentArchived,
    DocumentAssigned,
    DocumentUnassigned,
    DocumentDeleted,
    DocumentReviewDue,
    DocumentReviewed,
    DocumentReviewUpdated,
    ApprovalRequested,
    ApprovalApproved,
    ApprovalRejected,
    ApprovalWithdrawn,
    ApprovalDecided,
    DocumentApproversUpdated,
    ApiKeyUsed,
  ],
  consumes: [MemberRemoved, DocumentAssigned, DocumentReviewUpdated],
  owns: [
    ...['documents', 'nodes', 'assets', 'asset_files', 'approvals', 'publish_ledger', 'publish_usage'],
    ...['search', 'storage_usage'],
  ],
  views: [
    ...[documentStates, publishedDocuments, documentSummaries, documentApprovals],
    ...[documentVersions, documentNodes],
    ...[libraryDocuments, documentUsage, assetDetails, assetBytes, assetUsage, publishRecords],
  ],
  reads: [
    ...principalViews,
    memberProfiles,
    organizationProfiles,
    webhookSubscriptions,
    liveWebhookListeners,
  ],
});
