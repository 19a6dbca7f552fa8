/** Exporting: what a file costs, and what it costs those who ask for something else. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type SampleNode, sampleOf } from '../files/sample.ts';
import type { BenchFixture, Side } from '../fixture.ts';
import type { Asked } from '../load.ts';
import { cpuMsOf } from '../process-usage.ts';
import { httpRow, type Row, type Sample } from '../row.ts';
import { smallDocument } from './trees.ts';

const sop = new URL('../../tests/fixtures/incident-response-sop.json', import.meta.url);
const files = 16;

/** Copies of the sample SOP, which has 60 nodes and more, and how to ask for their files. */
async function procedures({ home, api, copies }: BenchFixture) {
  const { id } = await api(home, 'POST', '/documents', JSON.parse(await readFile(sop, 'utf8')));
  const ids = await copies(id, files);
  return { ids, asked: (i: number) => wordOf(ids[i % files] ?? id, home.key) };
}

function wordOf(id: string, key: string): Asked {
  return { method: 'GET', path: `/api/v1/documents/${id}/export/word?template_id=default`, key };
}

/** Every file is made anew. */
export const wordAnew = httpRow({
  name: 'a Word file of 60 nodes, made anew',
  remark: 'the sample SOP in the default template; floor: a bare request',
  beside: true,
  requests: files,
  connections: 4,
  floorRequests: 3000,
  floor: 'nothing',
  same: 'nothing',
  async prepare(stage) {
    const { ids, asked } = await procedures(stage);
    return async () => {
      const documents = stage.db.collection<{ _id: string }>('documents');
      await documents.updateMany({ _id: { $in: ids } }, { $inc: { row_version: 1 } });
      return asked;
    };
  },
});

/** Every file was made before. */
export const wordAgain = httpRow({
  name: 'a Word file of 60 nodes, unchanged',
  remark: 'the sample SOP in the default template; floor: a bare request',
  beside: true,
  requests: 1000,
  floorRequests: 3000,
  floor: 'nothing',
  same: 'nothing',
  async prepare(stage) {
    const { asked } = await procedures(stage);
    return async () => asked;
  },
});

const reads = 1000;
const everyMs = 5;

/** Somebody reads a document every few milliseconds, while files are made of large ones and without that. */
export const readBesideExports: Row = {
  name: 'read a document while Word files of 1,000 nodes are made, against without',
  p99Goal: 1.5,
  remark:
    'floor: ours too, while nobody exports and documents change as often; a read every 5 ms, two who export; CPU time is the whole process’s, that of the files too; look at the p99',
  unit: 'request',
  async prepare(stage, share) {
    const { api, home, clients, db, programs } = stage;
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    const large = { title: 'A procedure of 1,000 nodes', nodes: parsed(sampleOf(1_000).nodes) };
    const made = await Promise.all([large, large].map((body) => api(home, 'POST', '/documents', body)));
    const read: Asked = { method: 'GET', path: `/api/v1/documents/${id}`, key: home.key };
    const exporter = stage.connect(programs.ours.origin);
    const documents = db.collection<{ _id: string }>('documents');
    let fileMs = 300;
    return {
      async batch(side: Side): Promise<Sample> {
        const count = Math.max(1, Math.round(reads * share));
        let isOver = false;
        const exporting = made.map(async (one) => {
          while (!isOver) {
            // that a document changes is no part of what its file costs: it does so on both sides, as often
            await documents.updateOne({ _id: one.id }, { $inc: { row_version: 1 } });
            if (side === 'floor') await pause(fileMs);
            else fileMs = await timed(() => exporter.ask(wordOf(one.id, home.key)));
          }
        });
        const cpuBefore = cpuMsOf(programs.ours.pid);
        const startedAt = performance.now();
        const took: number[] = [];
        try {
          while (took.length < count) {
            const askedAt = performance.now();
            await clients.ours.ask(read);
            took.push(performance.now() - askedAt);
            await pause(everyMs);
          }
        } finally {
          isOver = true;
        }
        const wallMs = performance.now() - startedAt;
        const cpuMs = cpuMsOf(programs.ours.pid) - cpuBefore;
        await Promise.all(exporting);
        took.sort((a, b) => a - b);
        return { count, wallMs, cpuMs, p99Ms: took[Math.ceil(count * 0.99) - 1] ?? Number.NaN };
      },
      end: () => exporter.close(),
    };
  },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begunAt = performance.now();
  await work();
  return performance.now() - begunAt;
}

/** The sample keeps rich text as it is kept; the API takes it as it is. */
function parsed(nodes: readonly SampleNode[]): unknown[] {
  return nodes.map((node) => ({
    ...node,
    content: JSON.parse(node.content),
    children: parsed(node.children),
  }));
}
