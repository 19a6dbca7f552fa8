/** Documents, wired. */
import { z } from 'zod';
import { integer, service } from '#libs/service';
import { createPrincipalReader } from '../identity/contract.ts';
import { assigning, clearRemovedEditors } from './assigning.ts';
import { documentsContract } from './contract.ts';
import { createDocumentReply } from './document-reply.ts';
import { finding } from './finding.ts';
import { publishing } from './publishing.ts';
import { revising } from './revising.ts';
import { searching } from './searching.ts';
import {
  documents as documentCollection,
  nodes,
  publishLedger,
  publishUsage,
  search as searchCollection,
} from './store/collections.ts';
import { documentRepository } from './store/document-repository.ts';
import { editors } from './store/editors.ts';
import { families } from './store/families.ts';
import { listing } from './store/listing.ts';
import { quota } from './store/quota.ts';
import { search } from './store/search.ts';
import { searchIndex } from './store/search-index.ts';
import { trees } from './store/tree.ts';
import { createDueUpdates } from './store/update-events.ts';
import { tree } from './tree.ts';
import { triggering } from './triggering.ts';
import { updateEventWorker } from './update-events.ts';
import { writing } from './writing.ts';

export const documents = service({
  contract: documentsContract,
  settings: z.object({
    DOCUMENT_CACHE_MB: integer
      .pipe(z.number().min(1).max(65_536))
      .default(32)
      .meta({ description: 'Memory for documents as they were last read' }),
  }),
  collections: [documentCollection, nodes, publishLedger, publishUsage, searchCollection],
  start({ store, settings, now, log }) {
    const nodeRows = trees(store);
    const words = search(store);
    const documentRows = documentRepository(store, { trees: nodeRows, search: words }, now);
    const rows = { library: documentRows, trees: nodeRows };
    const kept = {
      store,
      ...rows,
      listing: listing(store, words),
      families: families(store, documentRows, now),
      editors: editors(store, now),
      show: createDocumentReply({ ...rows, cacheBytes: settings.DOCUMENT_CACHE_MB * 2 ** 20 }),
      quota: quota(store),
      now,
    };
    const onError = (what: string, error: unknown) => log.warn({ err: error }, what);
    return {
      routes: [writing, tree, publishing, revising, assigning, triggering, finding].flatMap((handled) =>
        handled(kept),
      ),
      subscribers: clearRemovedEditors(kept),
      authenticate: createPrincipalReader(store, now),
      workers: [
        searching({ stale: searchIndex(store, now), onError }),
        updateEventWorker({ store, dueUpdates: createDueUpdates(store, now), onError: onError }),
      ],
    };
  },
});
