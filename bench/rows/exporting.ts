/** Rows for exports: the cost of a file, and the latency of reads under load of exports. */
import { readFile } from 'node:fs/promises';
import { createDocument, publishDocument } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import { withBusyLoops } from '../busy-loops.ts';
import { createSample, type SampleNode } from '../files/sample.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import type { BenchRequest } from '../load.ts';
import { pairedRow } from '../paired.ts';
import { httpRow, type Row } from '../row.ts';
import { insertTokens } from './public-links.ts';
import { readUnderWork } from './read-under-work.ts';

const sop = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);
const files = 16;

/** Creates copies of the sample SOP, which has about 60 nodes, and the requests for their files. */
async function createProcedures({ organization, api, copyDocument }: BenchFixture) {
  const { id } = await createDocument(api, organization.key, JSON.parse(await readFile(sop, 'utf8')));
  const ids = await copyDocument(id, files);
  return { ids, toRequest: (i: number) => exportRequest(ids[i % files] ?? id, organization.key) };
}

function exportRequest(id: string, key: string) {
  return { method: 'GET' as const, path: `/api/v1/documents/${id}/export/word?template_id=default`, key };
}

/** Every file is rendered. */
export const exportRendered = httpRow({
  name: 'a Word file of 60 nodes, newly made',
  remark: 'the sample SOP in the default template; baseline: a bare request',
  withoutRatio: true,
  requests: files,
  connections: 4,
  baselineRequests: 3000,
  baselineHandler: 'nothing',
  compare: 'nothing',
  async prepare(fixture) {
    const { ids, toRequest } = await createProcedures(fixture);
    return async () => {
      const documents = fixture.db.collection<{ _id: string }>('documents');
      await documents.updateMany({ _id: { $in: ids } }, { $inc: { row_version: 1 } });
      return toRequest;
    };
  },
});

/** HTML files and public pages of the same documents, all newly rendered. */
export const exportHtml: Row = pairedRow({
  name: 'an HTML file of 60 nodes, newly made',
  goal: 1.5,
  pairedWith: 'for the public page, which is not cached',
  async prepare(fixture) {
    const { organization, api, db, copyDocument } = fixture;
    const { id } = await publishDocument(api, organization.key, JSON.parse(await readFile(sop, 'utf8')));
    const ids = await copyDocument(id, files);
    const documents = db.collection<DbRow>('documents');
    const mine = { _id: { $in: ids } };
    await documents.updateMany(mine, { $set: { status: 'published', published_at: new Date() } });
    const tokens = await insertTokens(fixture, ids);
    const toSlice = (toRequest: (at: number) => BenchRequest) => async () => {
      await documents.updateMany(mine, { $inc: { row_version: 1 } });
      return (i: number) => toRequest(i % files);
    };
    const { key, slug } = organization;
    return [
      toSlice((at) => ({ method: 'GET', path: `/api/v1/documents/${ids[at]}/export/html`, key })),
      toSlice((at) => ({ method: 'GET', path: `/embed/${slug}/${tokens[at]}?format=html` })),
    ];
  },
});

/** Every file comes from the cache. */
export const exportCached = httpRow({
  name: 'a Word file of 60 nodes, unchanged',
  remark: 'the sample SOP in the default template; baseline: a bare request',
  withoutRatio: true,
  requests: 1000,
  baselineRequests: 3000,
  baselineHandler: 'nothing',
  compare: 'nothing',
  async prepare(fixture) {
    const { toRequest } = await createProcedures(fixture);
    return async () => toRequest;
  },
});

/** Reads a small document every 5 ms, with and without concurrent exports of large documents. */
export const readUnderExports = readUnderWork({
  name: 'read a document under load of exports of 1,000 nodes',
  remark:
    'paired with the service without exports, while documents change equally often; one read every 5 ms, two concurrent exports; the p99 counts, because CPU time includes the exports',
  workers: 2,
  async prepare({ api, organization, db }) {
    const large = { title: 'A procedure of 1,000 nodes', nodes: parseContents(createSample(1_000).nodes) };
    const exported = await Promise.all(
      [large, large].map((body) => createDocument(api, organization.key, body)),
    );
    const documents = db.collection<{ _id: string }>('documents');
    return {
      async next(worker) {
        const { id } = exported[worker] ?? { id: '' };
        // the change is not part of the cost of an export, so it happens equally often without exports
        await documents.updateOne({ _id: id }, { $inc: { row_version: 1 } });
        return exportRequest(id, organization.key);
      },
    };
  },
});

/** How long a file takes when other programs of the machine need all cores. */
export const exportBesideBusyLoops: Limit = {
  name: 'a Word file of 60 nodes beside four busy loops',
  unit: 's',
  goal: 5,
  statistic: 'largest',
  remark:
    'the sample SOP in the default template, newly made by workers that run; the loops have normal priority and run in the session of the service',
  async measure(fixture, share) {
    const { ids, toRequest } = await createProcedures(fixture);
    const documents = fixture.db.collection<{ _id: string }>('documents');
    // the workers start before the loops
    await fixture.clients.service.send(toRequest(0));
    await documents.updateMany({ _id: { $in: ids } }, { $inc: { row_version: 1 } });
    return withBusyLoops(4, async () => {
      const seconds: number[] = [];
      while (seconds.length < Math.ceil(files * share)) {
        const ms = await measureMs(() => fixture.clients.service.send(toRequest(seconds.length)));
        seconds.push(ms / 1000);
      }
      return seconds;
    });
  },
};

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}

/** Parses the rich text of the sample's nodes: the sample has JSON text, the API takes objects. */
function parseContents(nodes: readonly SampleNode[]): unknown[] {
  return nodes.map((node) => ({
    ...node,
    content: JSON.parse(node.content),
    children: parseContents(node.children),
  }));
}
