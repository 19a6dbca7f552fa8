/** The largest documents there may be, and what they cost those who ask for something else. */

import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { rssMbOf } from '../process-usage.ts';
import { freePort, start } from '../processes.ts';
import { reader } from '../reader.ts';
import { bigDocument, hugeDocument } from './trees.ts';

/** The document of 10,000 nodes; made once for all. */
let huge: Promise<string> | undefined;

function hugeId({ api, home }: BenchFixture): Promise<string> {
  huge ??= api(home, 'POST', '/documents', hugeDocument).then(async ({ id }) => {
    await api(home, 'POST', `/documents/${id}/publish`);
    return id;
  });
  return huge;
}

const everyMs = 5;

/** What waits while a huge tree is read that is in no cache. */
export const hugeTreeBeside: Limit = {
  name: 'another request while a 10,000-node tree is read',
  unit: 'ms',
  goal: 50,
  counts: 'largest',
  remark: 'an empty list, asked for every 5 ms on a connection of its own',
  async take(stage, share) {
    const { api, home, clients, db, programs } = stage;
    const _id = await hugeId(stage);
    const { key } = home;
    const took: number[] = [];
    const state = { isReading: true };
    const other = async () => {
      while (state.isReading) {
        const startedAt = performance.now();
        await clients.ours.ask({ method: 'GET', path: '/api/v1/templates', key });
        took.push(performance.now() - startedAt);
        await new Promise((resolve) => setTimeout(resolve, everyMs));
      }
    };
    const url = `${programs.ours.origin}/api/v1/documents/${_id}`;
    const huge = await reader({ url, key });
    const read = async () => {
      for (let left = Math.ceil(10 * share); left > 0; left -= 1) {
        await db.collection<{ _id: string }>('documents').updateOne({ _id }, { $inc: { row_version: 1 } });
        await huge.read();
      }
      state.isReading = false;
    };
    await api(home, 'GET', `/documents/${_id}`);
    try {
      await Promise.all([other(), read()]);
    } finally {
      state.isReading = false;
      await huge.close();
    }
    return took;
  },
};

/** A revision of a huge document, with its answer. */
export const reviseHuge: Limit = {
  name: 'revise a document of 10,000 nodes',
  unit: 'ms',
  goal: 2_000,
  counts: 'largest',
  async take(stage, share) {
    const path = `/api/v1/documents/${await hugeId(stage)}/revise`;
    const took: number[] = [];
    while (took.length < 5 * share) {
      const startedAt = performance.now();
      await stage.clients.ours.ask({ method: 'POST', path, key: stage.home.key });
      took.push(performance.now() - startedAt);
    }
    return took;
  },
};

/** How V8 sizes its heap by itself in a container of 512 MB. */
const heapOfContainer = ['--max-old-space-size=256', '--max-semi-space-size=2'];
/** What docs/deployment.md says to set there, so that freed memory goes back to the system. */
const mallocOfContainer = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };

/** Memory of a documents process that only reads: trees small and large, lists, counts. */
export const documentsInMemory: Limit = {
  name: 'resident memory of a documents process that reads',
  unit: 'MB',
  goal: 250,
  counts: 'largest',
  remark:
    'as in a container of 512 MB (docs/deployment.md); ten looks during 20,000 requests for trees of 200 nodes, cold and unchanged, lists, counts and, now and then, 10,000 nodes',
  async take(stage, share) {
    const { home, api, copies, db } = stage;
    const hugePath = `/api/v1/documents/${await hugeId(stage)}`;
    const { id } = await api(home, 'POST', '/documents', bigDocument);
    const ids = await copies(id, 200);
    const { environment } = stage.runs.ours;
    // no event is said: nobody needs to hear
    const nowhere = { AMQP_URL: 'amqp://127.0.0.1:9/', MANAGEMENT_PORT: String(await freePort()) };
    const program = await start({
      file: 'services/documents/main.ts',
      ready: '/api/v1/documents',
      readyStatus: 401,
      flags: heapOfContainer,
      environment: (port) => ({ ...environment(port), ...mallocOfContainer, ...nowhere }),
    });
    const reader = stage.connect(program.origin);
    try {
      const looks: number[] = [];
      while (looks.length < 10) {
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
          return { method: 'GET', path, key: home.key };
        });
        looks.push(rssMbOf(program.pid));
      }
      return looks;
    } finally {
      await reader.close();
      await program.stop();
    }
  },
};
