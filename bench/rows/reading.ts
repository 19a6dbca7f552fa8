/** Rows for reads: a tree, and a page of a long list. */
import { createDocument, type Person } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BenchFixture } from '../fixture.ts';
import { pairedRow } from '../paired.ts';
import { httpRow } from '../row.ts';
import { bigDocument } from './trees.ts';

const treeRequests = 200;

/** Creates trees of 200 nodes for `coldReads`. Returns their ids. */
async function coldTrees(fixture: BenchFixture, share: number): Promise<string[]> {
  const { id } = await createDocument(fixture.api, fixture.organization.key, bigDocument);
  return fixture.copyDocument(id, Math.max(1, Math.round(treeRequests * share)));
}

/** Increments the version of all trees before each batch, so that none is cached. */
export function coldReads(fixture: BenchFixture, ids: readonly string[]) {
  const { key } = fixture.organization;
  const documents = fixture.db.collection<DbRow>('documents');
  return async () => {
    await documents.updateMany({ _id: { $in: [...ids] } }, { $inc: { row_version: 1 } });
    return (i: number) => ({
      method: 'GET' as const,
      path: `/api/v1/documents/${ids[i % ids.length]}`,
      key,
    });
  };
}

/** A tree that is not cached. */
export const readTree = httpRow({
  name: 'read a 200-node tree, cold',
  remark: 'baseline: rich text stored as JSON text, like the service',
  requests: treeRequests,
  baselineHandler: 'readTree',
  compare: 'text',
  prepare: async (fixture, share) => coldReads(fixture, await coldTrees(fixture, share)),
});

/** The same, but the baseline stores rich text as BSON, as most applications would. */
export const readTreeOfBson = httpRow({
  name: 'read a 200-node tree, cold; baseline with BSON rich text',
  goal: 0.9,
  requests: treeRequests,
  baselineHandler: 'readTreeOfBson',
  compare: 'text',
  async prepare(fixture, share) {
    const ids = await coldTrees(fixture, share);
    for (const document_id of ids) {
      const rows = await fixture.db.collection<DbRow>('nodes').find({ document_id }).toArray();
      const parsed = rows.map((row) => ({ ...row, content: JSON.parse(row.content) }));
      await fixture.db.collection<DbRow>('baseline_nodes').insertMany(parsed);
    }
    return coldReads(fixture, ids);
  },
});

/** One tree, repeatedly. */
export const readTreeCached = httpRow({
  name: 'read a 200-node tree, unchanged',
  goal: 0.35,
  remark: 'the service has the bytes in memory',
  requests: treeRequests,
  baselineHandler: 'readTree',
  compare: 'text',
  async prepare({ organization, api }) {
    const { id } = await createDocument(api, organization.key, bigDocument);
    return async () => () => ({ method: 'GET', path: `/api/v1/documents/${id}`, key: organization.key });
  },
});

/** Creates an organization with `documents` documents without nodes, at least 60. */
export async function createLibrary(fixture: BenchFixture, documents: number) {
  const organization = await fixture.register();
  const { id, organization_id } = await createDocument(fixture.api, organization.key, {
    title: 'One of many',
  });
  const ids = await fixture.copyDocument(id, Math.max(60, Math.round(documents)));
  return { organization, ids, organization_id: String(organization_id) };
}

const listLength = 100_000;

/** The first page of a long list. */
export const list = httpRow({
  name: 'list 50 of 100,000',
  goal: 1.5,
  requests: 800,
  baselineHandler: 'list',
  compare: 'text',
  async prepare(fixture, share) {
    const { organization } = await createLibrary(fixture, listLength * Math.min(1, share));
    return async () => () => ({ method: 'GET', path: '/api/v1/documents?limit=50', key: organization.key });
  },
});

/** The cost of a page must not depend on the length of the list. */
export const listOfMillion = pairedRow({
  name: 'list 50 of 1,000,000 vs. 50 of 1,000',
  goal: 1.2,
  pairedWith: 'in an organization of 1,000 documents',
  async prepare(fixture, share) {
    const [large, small] = [
      await createLibrary(fixture, 1_000_000 * Math.min(1, share)),
      await createLibrary(fixture, 1_000),
    ];
    const page = ({ organization }: { organization: Person }) => ({
      method: 'GET' as const,
      path: '/api/v1/documents?limit=50',
      key: organization.key,
    });
    return [() => () => page(large), () => () => page(small)];
  },
});
