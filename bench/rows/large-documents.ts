/**
 * Limits for documents of the maximum size: duration and memory of requests, and latency of other requests.
 */

import { createDocument, must, publishDocument } from '#libs/testing';
import { startInContainer } from '../container.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { getRssMb } from '../process-usage.ts';
import { startReader } from '../reader.ts';
import { bigDocument, hugeDocument } from './trees.ts';

/** The id of the published document of 10,000 nodes. All limits share it. */
let huge: Promise<string> | undefined;

function getHugeDocument({ api, organization }: BenchFixture): Promise<string> {
  huge ??= publishDocument(api, organization.key, hugeDocument).then(({ id }) => id);
  return huge;
}

const everyMs = 5;

/** How long other requests take while an uncached tree of 10,000 nodes is read. */
export const requestUnderHugeReads: Limit = {
  name: 'another request while a 10,000-node tree is read',
  unit: 'ms',
  goal: 50,
  statistic: 'largest',
  remark: 'an empty list, requested every 5 ms on a separate connection',
  async measure(fixture, share) {
    const { api, organization, clients, db, processes } = fixture;
    const _id = await getHugeDocument(fixture);
    const { key } = organization;
    const durations: number[] = [];
    const state = { isReading: true };
    const other = async () => {
      while (state.isReading) {
        const startedAt = performance.now();
        await clients.service.send({ method: 'GET', path: '/api/v1/templates', key });
        durations.push(performance.now() - startedAt);
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    };
    const url = `${processes.service.origin}/api/v1/documents/${_id}`;
    const huge = await startReader({ url, key });
    const read = async () => {
      for (let left = Math.ceil(10 * share); left > 0; left -= 1) {
        await db.collection<{ _id: string }>('documents').updateOne({ _id }, { $inc: { row_version: 1 } });
        await huge.read();
      }
      state.isReading = false;
    };
    await must(api, 'GET', `/documents/${_id}`, { as: organization.key });
    try {
      await Promise.all([other(), read()]);
    } finally {
      state.isReading = false;
      await huge.close();
    }
    return durations;
  },
};

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
