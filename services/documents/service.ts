/** Wires the documents service. */
import { service } from '#libs/service';
import { createPrincipalReader } from '../identity/principal.ts';
import { createStorageQuota, quotaRejections } from '../identity/storage-quota.ts';
import { approvalQueryHandlers } from './approval-queries.ts';
import { approvalHandlers } from './approving.ts';
import { createAssetParts } from './asset-parts.ts';
import { assetHandlers } from './assets.ts';
import { clearRemovedMembers, editorHandlers } from './assigning.ts';
import { comparisonHandlers } from './comparing.ts';
import { documentsContract } from './contract.ts';
import { createDocumentReply } from './document-reply.ts';
import { queryHandlers } from './finding.ts';
import { createImportParts } from './import-parts.ts';
import { importHandlers } from './importing.ts';
import { documentMetrics, reviewNoticeCounter } from './metrics.ts';
import { publishHandlers } from './publishing.ts';
import { reviewNoticeWorker } from './review-notices.ts';
import { reviewHandlers } from './reviewing.ts';
import { revisionHandlers } from './revising.ts';
import { searchIndexWorker } from './search-index-worker.ts';
import { documentSettings } from './settings.ts';
import { approvals } from './store/approvals.ts';
import { assignees } from './store/assignees.ts';
import { documentCollections } from './store/collections.ts';
import { documentRepository } from './store/document-repository.ts';
import { families } from './store/families.ts';
import { listing } from './store/listing.ts';
import { quota } from './store/quota.ts';
import { search } from './store/search.ts';
import { searchIndex } from './store/search-index.ts';
import { storageCharges } from './store/storage-charges.ts';
import { trees } from './store/tree.ts';
import { nodeHandlers } from './tree.ts';
import { triggerHandlers } from './triggering.ts';
import { updateEventWorker } from './update-events.ts';
import { documentHandlers } from './writing.ts';

export const documents = service({
  contract: documentsContract,
  settings: documentSettings,
  collections: documentCollections,
  metrics: [quotaRejections, ...documentMetrics],
  start({ store, settings, now, log, meters }) {
    const nodeTrees = trees(store);
    const searchWords = search(store);
    const storageQuota = createStorageQuota(store, meters);
    const charges = storageCharges(store, storageQuota, now);
    const { assetWorker, ...assetDeps } = createAssetParts({ store, now, log, meters, storageQuota });
    const stores = { trees: nodeTrees, search: searchWords, charges, assets: assetDeps.assets };
    const repository = documentRepository(store, stores, now);
    const { importWorker, ...importDeps } = createImportParts({ settings, log, meters });
    const cacheBytes = settings.DOCUMENT_CACHE_MB * 2 ** 20;
    const deps = {
      ...{ store, repository, trees: nodeTrees, search: searchWords, now, ...assetDeps, ...importDeps },
      ...{ listing: listing(store, searchWords), families: families(store, repository) },
      ...{ assignees: assignees(store, now), approvals: approvals(store), quota: quota(store) },
      documentReply: createDocumentReply({ repository, trees: nodeTrees, cacheBytes }),
      countNotice: reviewNoticeCounter(meters),
      onError: (message: string, error: unknown) => log.warn({ err: error }, message),
    };
    return {
      routes: [
        ...[documentHandlers, nodeHandlers, publishHandlers, revisionHandlers, comparisonHandlers],
        ...[editorHandlers, approvalHandlers, approvalQueryHandlers, reviewHandlers, triggerHandlers],
        ...[queryHandlers, assetHandlers, importHandlers],
      ].flatMap((createHandlers) => createHandlers(deps)),
      subscribers: clearRemovedMembers(deps),
      authenticate: createPrincipalReader(store, now),
      workers: [
        searchIndexWorker({ searchIndex: searchIndex(store, now), onError: deps.onError }),
        updateEventWorker(deps),
        reviewNoticeWorker(deps),
        ...[assetWorker, importWorker],
      ],
    };
  },
});
