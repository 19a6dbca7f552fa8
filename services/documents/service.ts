/** Documents, wired. */
import { z } from 'zod';
import { service } from '#libs/service';
import { principalFrom } from '../identity/contract.ts';
import { documentsContract } from './contract.ts';
import { finding } from './finding.ts';
import { publishing } from './publishing.ts';
import { documents as documentRows, nodes, publishLedger, publishUsage } from './store/collections.ts';
import { library } from './store/library.ts';
import { quota } from './store/quota.ts';
import { trees } from './store/tree.ts';
import { tree } from './tree.ts';
import { writing } from './writing.ts';

export const documents = service({
  contract: documentsContract,
  settings: z.object({}),
  collections: [documentRows, nodes, publishLedger, publishUsage],
  start({ store, now }) {
    const nodeRows = trees(store);
    const kept = { library: library(store, nodeRows, now), trees: nodeRows, quota: quota(store), now };
    return {
      handled: [...writing(kept), ...tree(kept), ...publishing(kept), ...finding(kept)],
      authenticate: principalFrom(store, now),
    };
  },
});
