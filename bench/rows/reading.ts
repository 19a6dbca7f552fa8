/** Reading: a tree, a page of a long list. */
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture, Organization } from '../fixture.ts';
import { pairedRow } from '../paired.ts';
import { httpRow } from '../row.ts';
import { bigDocument } from './trees.ts';

const treeRequests = 200;

/** Trees whose version changes before each batch, so that no cache has them. */
async function coldTrees(stage: BenchFixture, share: number): Promise<string[]> {
  const { id } = await stage.api(stage.home, 'POST', '/documents', bigDocument);
  return stage.copies(id, Math.max(1, Math.round(treeRequests * share)));
}

function coldReads(stage: BenchFixture, ids: readonly string[]) {
  const { key } = stage.home;
  const documents = stage.db.collection<DbRow>('documents');
  return async () => {
    await documents.updateMany({ _id: { $in: [...ids] } }, { $inc: { row_version: 1 } });
    return (i: number) => ({
      method: 'GET' as const,
      path: `/api/v1/documents/${ids[i % ids.length]}`,
      key,
    });
  };
}

/** A tree that is in no cache. */
export const readTree = httpRow({
  name: 'read a 200-node tree, cold',
  remark: 'floor: rich text kept as JSON text, as ours keeps it',
  requests: treeRequests,
  floor: 'readTree',
  same: 'text',
  prepare: async (stage, share) => coldReads(stage, await coldTrees(stage, share)),
});

/** The same against rich text as most would keep it. */
export const readTreeOfBson = httpRow({
  name: 'read a 200-node tree, cold; floor keeps rich text as BSON',
  goal: 0.9,
  requests: treeRequests,
  floor: 'readTreeOfBson',
  same: 'text',
  async prepare(stage, share) {
    const ids = await coldTrees(stage, share);
    for (const document_id of ids) {
      const rows = await stage.db.collection<DbRow>('nodes').find({ document_id }).toArray();
      const parsed = rows.map((row) => ({ ...row, content: JSON.parse(row.content) }));
      await stage.db.collection<DbRow>('floor_nodes').insertMany(parsed);
    }
    return coldReads(stage, ids);
  },
});

/** One tree, again and again. */
export const readTreeAgain = httpRow({
  name: 'read a 200-node tree, unchanged',
  goal: 0.35,
  remark: 'ours has its bytes in memory',
  requests: treeRequests,
  floor: 'readTree',
  same: 'text',
  async prepare({ home, api }) {
    const { id } = await api(home, 'POST', '/documents', bigDocument);
    return async () => () => ({ method: 'GET', path: `/api/v1/documents/${id}`, key: home.key });
  },
});

/** An organization with so many documents without nodes. */
export async function library(stage: BenchFixture, documents: number) {
  const house = await stage.register();
  const { id, organization_id } = await stage.api(house, 'POST', '/documents', { title: 'One of many' });
  const ids = await stage.copies(id, Math.max(60, Math.round(documents)));
  return { house, ids, organization_id: String(organization_id) };
}

const listed = 100_000;

/** The first page of a long list. */
export const list = httpRow({
  name: 'list 50 of 100,000',
  goal: 1.5,
  requests: 800,
  floor: 'list',
  same: 'text',
  async prepare(stage, share) {
    const { house } = await library(stage, listed * Math.min(1, share));
    return async () => () => ({ method: 'GET', path: '/api/v1/documents?limit=50', key: house.key });
  },
});

/** The length of a list must not matter. */
export const listOfMillion = pairedRow({
  name: 'list 50 of 1,000,000 against 50 of 1,000',
  goal: 1.2,
  against: 'in an organization of 1,000 documents',
  async prepare(stage, share) {
    const [large, small] = [
      await library(stage, 1_000_000 * Math.min(1, share)),
      await library(stage, 1_000),
    ];
    const page = ({ house }: { house: Organization }) => ({
      method: 'GET' as const,
      path: '/api/v1/documents?limit=50',
      key: house.key,
    });
    return [() => () => page(large), () => () => page(small)];
  },
});
