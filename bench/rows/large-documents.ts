/** Limits for the duration and memory of requests for documents of the maximum size. */

import { createDocument } from '#libs/testing';
import { startInContainer } from '../container.ts';
import type { Limit } from '../limit.ts';
import { getRssMb } from '../process-usage.ts';
import { bigDocument } from './trees.ts';
import { getHugeDocument } from './waiting.ts';

/** How long a revision of a document of 10,000 nodes takes, including its response. */
export const reviseHuge: Limit = {
  name: 'revise a document of 10,000 nodes',
  unit: 'ms',
  goal: 2_000,
  statistic: 'largest',
  async measure(fixture, share) {
    const path = `/api/v1/documents/${await getHugeDocument(fixture)}/revise`;
    const durations: number[] = [];
    while (durations.length < 5 * share) {
      const startedAt = performance.now();
      await fixture.clients.service.send({ method: 'POST', path, key: fixture.organization.key });
      durations.push(performance.now() - startedAt);
    }
    return durations;
  },
};

/** Memory of a documents process under reads of small and large trees, lists and counts. */
export const documentsMemory: Limit = {
  name: 'resident memory of a documents process under reads',
  unit: 'MB',
  goal: 250,
  statistic: 'largest',
  remark:
    'as in a container of 512 MB (docs/deployment.md); ten samples during 20,000 requests for trees of 200 nodes, uncached and cached, lists, counts and a few trees of 10,000 nodes',
  async measure(fixture, share) {
    const { organization, api, copyDocument, db } = fixture;
    const hugePath = `/api/v1/documents/${await getHugeDocument(fixture)}`;
    const { id } = await createDocument(api, organization.key, bigDocument);
    const ids = await copyDocument(id, 200);
    const program = await startInContainer(fixture, 'services/documents/main.ts', '/api/v1/documents');
    const reader = fixture.connect(program.origin);
    try {
      const samples: number[] = [];
      while (samples.length < 10) {
        const cold = { _id: { $in: ids } };
        await db.collection<{ _id: string }>('documents').updateMany(cold, { $inc: { row_version: 1 } });
        await reader.load(Math.ceil(2_000 * share), (i) => {
          const path =
            i % 500 === 0
              ? hugePath
              : i % 4 === 0
                ? '/api/v1/documents?limit=100'
                : i % 4 === 1
                  ? '/api/v1/documents/counts'
                  : `/api/v1/documents/${ids[i % ids.length]}`;
          return { method: 'GET', path, key: organization.key };
        });
        samples.push(getRssMb(program.pid));
      }
      return samples;
    } finally {
      await reader.close();
      await program.stop();
    }
  },
};
