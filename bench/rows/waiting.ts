/** Limits for how long other requests wait while the service works on a document of 10,000 nodes. */
import { setTimeout as pause } from 'node:timers/promises';
import { must, publishDocument } from '#libs/testing';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import { startSender } from '../sender.ts';
import { hugeDocument } from './trees.ts';

/** The id of the published document of 10,000 nodes. All limits share it. */
let huge: Promise<string> | undefined;

/** Returns the id of a published document of 10,000 nodes. */
export function getHugeDocument({ api, organization }: BenchFixture): Promise<string> {
  huge ??= publishDocument(api, organization.key, hugeDocument).then(({ id }) => id);
  return huge;
}

const everyMs = 5;

/** Requests of a limit, one after the other. */
interface LargeWork {
  name: string;
  remark?: string;
  /** Returns the requests; `before` is called before each. */
  prepare(
    fixture: BenchFixture,
    count: number,
  ): Promise<{ method: string; paths: string[]; before?(): Promise<unknown> }>;
}

/** A limit that requests an empty list every 5 ms while a thread sends the requests of `prepare`. */
function requestDuring({ name, remark, prepare }: LargeWork): Limit {
  return {
    name: `another request while ${name}`,
    ...{ unit: 'ms', goal: 50, statistic: 'largest' },
    remark: `an empty list, requested every 5 ms on a separate connection${remark ? `; ${remark}` : ''}`,
    async measure(fixture, share) {
      const { clients, organization, processes } = fixture;
      const { key } = organization;
      const { method, paths, before } = await prepare(fixture, 1 + Math.ceil(10 * share));
      const sender = await startSender({ origin: `${processes.service.origin}/api/v1`, key });
      const [first = '', ...others] = paths;
      // the first one compiles the code
      await sender.send({ method, path: first });
      const durations: number[] = [];
      let isOver = false;
      const sendOthers = async () => {
        while (!isOver) {
          const startedAt = performance.now();
          await clients.service.send({ method: 'GET', path: '/api/v1/templates', key });
          durations.push(performance.now() - startedAt);
          await pause(everyMs);
        }
      };
      const sendLarge = async () => {
        try {
          for (const path of others) {
            await before?.();
            await sender.send({ method, path });
          }
        } finally {
          isOver = true;
        }
      };
      try {
        await Promise.all([sendOthers(), sendLarge()]);
      } finally {
        await sender.close();
      }
      return durations;
    },
  };
}

const requestUnderHugeReads = requestDuring({
  name: 'a 10,000-node tree is read',
  async prepare(fixture, count) {
    const _id = await getHugeDocument(fixture);
    await must(fixture.api, 'GET', `/documents/${_id}`, { as: fixture.organization.key });
    const documents = fixture.db.collection<{ _id: string }>('documents');
    return {
      method: 'GET',
      paths: Array.from({ length: count }, () => `/documents/${_id}`),
      // so that the tree is not cached
      before: () => documents.updateOne({ _id }, { $inc: { row_version: 1 } }),
    };
  },
});

const requestUnderComparisons = requestDuring({
  name: '10,000 nodes are compared',
  remark: 'two versions whose nodes all differ in their text',
  async prepare(fixture, count) {
    const { api, db, organization } = fixture;
    const id = await getHugeDocument(fixture);
    const draft = await must(api, 'POST', `/documents/${id}/revise`, { as: organization.key });
    const changed = { $replaceAll: { input: '$content', find: 'channel', replacement: 'radio' } };
    await db.collection('nodes').updateMany({ document_id: draft.id }, [{ $set: { content: changed } }]);
    return { method: 'GET', paths: Array.from({ length: count }, () => `/documents/${draft.id}/diff`) };
  },
});

const requestUnderHashes = requestDuring({
  name: '10,000 nodes are hashed',
  remark: 'a draft is published',
  async prepare(fixture, count) {
    const drafts = await fixture.copyDocument(await getHugeDocument(fixture), count);
    return { method: 'POST', paths: drafts.map((id) => `/documents/${id}/publish`) };
  },
});

/** The limits of this file. */
export const requestsBesideLargeWork = [requestUnderHugeReads, requestUnderComparisons, requestUnderHashes];
