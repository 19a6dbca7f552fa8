/** The public interface of the documents service: operations, events, problems and views. */
import { contract } from '#libs/contract';
import { ApiKeyUsed, MemberRemoved, organizationProfiles, principalViews } from '../identity/contract.ts';
import { liveWebhookListeners, webhookSubscriptions } from '../webhook-delivery/views.ts';
import { compareVersions } from './contract/comparing.ts';
import * as finding from './contract/finding.ts';
import * as lifecycle from './contract/lifecycle.ts';
import * as tree from './contract/tree.ts';
import * as writing from './contract/writing.ts';
import {
  DocumentArchived,
  DocumentAssigned,
  DocumentDeleted,
  DocumentEdited,
  DocumentPublished,
  DocumentRevised,
  DocumentUpdated,
} from './events.ts';
import { documentNodes, documentStates, documentUsage, documentVersions, publishRecords } from './views.ts';

export { content } from './content.ts';
export * from './contract/comparing.ts';
export * from './contract/finding.ts';
export * from './contract/lifecycle.ts';
export * from './contract/tree.ts';
export * from './contract/writing.ts';
export * from './events.ts';
export * from './problems.ts';
export { Document, DocumentSummary, Node, nodeType, type TreeInput } from './shapes.ts';
export * from './views.ts';

export const documentsContract = contract({
  name: 'documents',
  title: 'Documents',
  description: 'Process documents, their trees and their lifecycle.',
  operations: [
    ...[writing, finding, tree, lifecycle].flatMap((file) => Object.values(file)),
    compareVersions,
  ],
  publishes: [
    DocumentPublished,
    DocumentRevised,
    DocumentUpdated,
    DocumentEdited,
    DocumentArchived,
    DocumentAssigned,
    DocumentDeleted,
    ApiKeyUsed,
  ],
  consumes: [MemberRemoved, DocumentAssigned],
  owns: ['documents', 'nodes', 'publish_ledger', 'publish_usage', 'search', 'storage_usage'],
  views: [documentStates, documentVersions, documentNodes, documentUsage, publishRecords],
  reads: [...principalViews, organizationProfiles, webhookSubscriptions, liveWebhookListeners],
});
