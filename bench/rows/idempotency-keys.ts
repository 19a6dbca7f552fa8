/** Rows for Idempotency-Keys: requests with a new key each, paired with the same requests without a key. */
import { newId } from '#libs/contract';
import { createDocument } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import type { BenchRequest, RequestSource } from '../load.ts';
import { pairedRow, type Slice } from '../paired.ts';
import { smallDocument } from './trees.ts';

const goal = 1.25;
const pairedWith = 'without keys';

/** Returns the slice with a new Idempotency-Key for each request, and the slice itself. */
function pairWithKeys(slice: Slice): readonly [Slice, Slice] {
  const keyed: Slice = async (count) => {
    const requests = await slice(count);
    return (i) => ({ ...requests(i), idempotencyKey: newId() });
  };
  return [keyed, slice];
}

/** Creates a step below a section, in one of 256 documents. */
export const createNodeWithKey = pairedRow({
  name: 'create a node with an Idempotency-Key',
  goal,
  pairedWith,
  async prepare({ organization, api, copyDocument, db }) {
    const { id } = await createDocument(api, organization.key, smallDocument);
    const ids = await copyDocument(id, 256);
    const sections = await db
      .collection<DbRow>('nodes')
      .find({ document_id: { $in: ids }, node_type: 'section', order: 0 })
      .toArray();
    let created = 0;
    return pairWithKeys(() => () => {
      created += 1;
      const section = sections[created % sections.length];
      return createNodeRequest(organization.key, section?.document_id, section?._id ?? '', created);
    });
  },
});

/** Publishes a draft of ten nodes, including its event. */
export const publishWithKey = pairedRow({
  name: 'publish (10 nodes) with an Idempotency-Key',
  goal,
  pairedWith,
  async prepare({ organization, api, copyDocument }) {
    const { id } = await createDocument(api, organization.key, smallDocument);
    return pairWithKeys(async (count) => {
      const drafts = await copyDocument(id, count);
      return (i) => ({
        method: 'POST',
        path: `/api/v1/documents/${drafts[i]}/publish`,
        key: organization.key,
      });
    });
  },
  async isSettled({ db }) {
    return (await db.collection('documents_outbox').findOne({ pending: true })) === null;
  },
});

const writers = 100;

/** 100 concurrent writers of one document, with and without keys. A status other than 2xx fails the row. */
export const writersWithKey: Limit = {
  name: `${writers} concurrent node writers in one document, p50 with keys vs. without`,
  unit: '%',
  goal: 130,
  statistic: 'median',
  remark: 'one POST each; a 503 fails the row',
  async measure(fixture, share) {
    const percentages: number[] = [];
    for (let rounds = Math.ceil(10 * share); rounds > 0; rounds -= 1) {
      // the order alternates, because the load of the machine may change between the two
      const order = rounds % 2 === 0 ? [true, false] : [false, true];
      const p50Ms = new Map<boolean, number>();
      for (const isKeyed of order) p50Ms.set(isKeyed, await measureWritersP50(fixture, isKeyed));
      percentages.push(((p50Ms.get(true) ?? Number.NaN) / (p50Ms.get(false) ?? Number.NaN)) * 100);
    }
    return percentages;
  },
};

async function measureWritersP50(
  { organization, api, clients }: BenchFixture,
  isKeyed: boolean,
): Promise<number> {
  const { id, nodes } = await createDocument(api, organization.key, smallDocument);
  const requests: RequestSource = (i) => ({
    ...createNodeRequest(organization.key, id, nodes[0].id, i),
    ...(isKeyed && { idempotencyKey: newId() }),
  });
  return (await clients.service.load(writers, requests, writers)).p50Ms;
}

function createNodeRequest(key: string, documentId: string, parent_id: string, order: number): BenchRequest {
  const body = { node_type: 'step', title: 'One more step', order, parent_id };
  return { method: 'POST', path: `/api/v1/documents/${documentId}/nodes`, body, key };
}
