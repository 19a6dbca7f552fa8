/** What an Idempotency-Key costs: the same requests with a new key each, against requests without. */
import { newId } from '#libs/contract';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import type { Limit } from '../limit.ts';
import type { Asked, Requests } from '../load.ts';
import { pairedRow, type Slice } from '../paired.ts';
import { smallDocument } from './trees.ts';

const goal = 1.25;
const against = 'without a key';

/** The requests of a slice with a new Idempotency-Key each, and the same without. */
function withAndWithout(slice: Slice): readonly [Slice, Slice] {
  const keyed: Slice = async (count) => {
    const requests = await slice(count);
    return (i) => ({ ...requests(i), idempotencyKey: newId() });
  };
  return [keyed, slice];
}

/** A step below a section of one of many documents. */
export const createNodeWithKey = pairedRow({
  name: 'create a node with an Idempotency-Key',
  goal,
  against,
  async prepare({ home, api, copies, db }) {
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    const ids = await copies(id, 256);
    const sections = await db
      .collection<DbRow>('nodes')
      .find({ document_id: { $in: ids }, node_type: 'section', order: 0 })
      .toArray();
    let created = 0;
    return withAndWithout(() => () => {
      created += 1;
      const section = sections[created % sections.length];
      return nodeRequest(home.key, section?.document_id, section?._id ?? '', created);
    });
  },
});

/** A draft of ten nodes, with its event. */
export const publishWithKey = pairedRow({
  name: 'publish (10 nodes) with an Idempotency-Key',
  goal,
  against,
  async prepare({ home, api, copies }) {
    const { id } = await api(home, 'POST', '/documents', smallDocument);
    return withAndWithout(async (count) => {
      const drafts = await copies(id, count);
      return (i) => ({ method: 'POST', path: `/api/v1/documents/${drafts[i]}/publish`, key: home.key });
    });
  },
  async settled({ db }) {
    return (await db.collection('documents_outbox').findOne({ pending: true })) === null;
  },
});

const writers = 100;

/** Writers with a key into one document, all at once; a status that is no success fails the row. */
export const keyedWriters: Limit = {
  name: `${writers} concurrent node writers into one document, p50 with a key against without`,
  unit: '%',
  goal: 130,
  counts: 'median',
  remark: 'one POST each; a 503 fails the row',
  async take(stage, share) {
    const percentages: number[] = [];
    for (let rounds = Math.ceil(10 * share); rounds > 0; rounds -= 1) {
      // the order alternates, so that neither side always meets the quieter machine
      const order = rounds % 2 === 0 ? [true, false] : [false, true];
      const p50Ms = new Map<boolean, number>();
      for (const isKeyed of order) p50Ms.set(isKeyed, await writersP50(stage, isKeyed));
      percentages.push(((p50Ms.get(true) ?? Number.NaN) / (p50Ms.get(false) ?? Number.NaN)) * 100);
    }
    return percentages;
  },
};

async function writersP50({ home, api, clients }: BenchFixture, isKeyed: boolean): Promise<number> {
  const { id, nodes } = await api(home, 'POST', '/documents', smallDocument);
  const requests: Requests = (i) => ({
    ...nodeRequest(home.key, id, nodes[0].id, i),
    ...(isKeyed && { idempotencyKey: newId() }),
  });
  return (await clients.ours.load(writers, requests, writers)).p50Ms;
}

function nodeRequest(key: string, documentId: string, parent_id: string, order: number): Asked {
  const body = { node_type: 'step', title: 'One more step', order, parent_id };
  return { method: 'POST', path: `/api/v1/documents/${documentId}/nodes`, body, key };
}
