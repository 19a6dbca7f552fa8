/** The operations that are measured for whole systems. */
import { createDocument, publishDocument } from '#libs/testing';
import type { Row as DbRow } from '../baseline/handler.ts';
import type { BaselineHandlerName } from '../baseline.ts';
import type { BenchFixture } from '../fixture.ts';
import type { BenchRequest, RequestSource } from '../load.ts';
import { insertTokens } from '../rows/public-links.ts';
import { bigDocument, smallDocument } from '../rows/trees.ts';
import { copyToApp, fillApp } from './app-data.ts';
import type { SystemBatch, Systems } from './sides.ts';

/** An operation. */
export interface SystemRow {
  name: string;
  /** Goal for the CPU time of the service and MongoDB, divided by that of the app and MongoDB. */
  goal?: number;
  requests: number;
  /** Creates what the requests need. Returns a function that creates the requests of one batch. */
  prepare(systems: Systems, count: number): Promise<(batch: number) => Promise<SystemBatch>>;
}

/** The documents of an organization, unless an operation needs other ones. */
const documentCount = 20_000;
/** Different documents for an operation: more large ones than the caches hold, and few concurrent writes to each. */
const distinct = 400;
/** Different large documents that the cache of 32 MiB holds. */
const cached = 80;

/** Fills both databases with documents that only lists see. */
export async function fill({ fixture }: Systems, share: number): Promise<void> {
  const { api, organization, copyDocument, db } = fixture;
  const { id } = await createDocument(api, organization.key, { title: 'One of many' });
  await copyDocument(id, Math.round(documentCount * share));
  await fillApp(db, Math.round(documentCount * share));
}

const readTree: SystemRow = {
  name: 'whole system: read a tree of 200 nodes',
  goal: 0.4,
  requests: distinct,
  prepare: (systems) => readDocuments(systems, cached),
};

const readColdTree: SystemRow = {
  name: 'whole system: read a tree of 200 nodes, not cached',
  requests: distinct,
  prepare: (systems) => readDocuments(systems, distinct),
};

const list: SystemRow = {
  name: `whole system: list 50 of ${documentCount.toLocaleString('en')} documents`,
  goal: 0.9,
  requests: 800,
  async prepare(systems) {
    const get = (): BenchRequest => ({ method: 'GET', path: '/documents?limit=50' });
    return async () => toBatch(systems, 'list', get, get);
  },
};

const embed: SystemRow = {
  name: 'whole system: read a public link',
  goal: 1.1,
  requests: 1_200,
  async prepare({ fixture }) {
    const { id } = await publishDocument(fixture.api, fixture.organization.key, smallDocument);
    const ids = await fixture.copyDocument(id, distinct);
    const change = { $set: { status: 'published', published_at: new Date() } };
    await fixture.db.collection<DbRow>('documents').updateMany({ _id: { $in: ids } }, change);
    const tokens = await insertTokens(fixture, ids);
    const appIds = await copyToApp(fixture.db, id, distinct, { status: 'published', withTokens: true });
    return async () => {
      const path = (i: number) => `/embed/${fixture.organization.slug}/${tokens[i % distinct]}`;
      return {
        service: (i) => ({ method: 'GET', path: path(i) }),
        baseline: (i) => ({ method: 'GET', path: `/embed${path(i)}` }),
        app: (i) => ({ method: 'GET', path: `/embed/token-${appIds[i % distinct]}` }),
      };
    };
  },
};

const create: SystemRow = {
  name: 'whole system: create a document',
  goal: 1.3,
  requests: 800,
  async prepare(systems) {
    const body = { title: 'A new procedure', version: '1.0', department: 'Operations' };
    const post = (): BenchRequest => ({ method: 'POST', path: '/documents', body });
    return async () => toBatch(systems, 'createDocument', post, post);
  },
};

const createNode: SystemRow = {
  name: 'whole system: create a node',
  goal: 1.3,
  requests: 800,
  async prepare(systems) {
    const { fixture } = systems;
    const { ids, appIds } = await copyToBoth(fixture, smallDocument);
    const findSections = async (name: string, type: object, document: string) => {
      const filter = { ...type, [document]: { $in: [...ids, ...appIds] } };
      const rows = await fixture.db.collection<DbRow>(name).find(filter).toArray();
      return new Map(rows.map((row) => [String(row[document]), row._id]));
    };
    const sections = await findSections('nodes', { node_type: 'section' }, 'document_id');
    const appSections = await findSections('app_nodes', { nodeType: 'section' }, 'documentId');
    const post =
      (all: readonly string[], parents: Map<string, string>) =>
      (i: number): BenchRequest => {
        const document = all[i % distinct] ?? '';
        const body = {
          node_type: 'step',
          title: 'One more step',
          order: i,
          parent_id: parents.get(document),
        };
        return { method: 'POST', path: `/documents/${document}/nodes`, body };
      };
    return async () => toBatch(systems, 'createNode', post(ids, sections), post(appIds, appSections));
  },
};

const update: SystemRow = {
  name: 'whole system: PATCH a title (10 nodes)',
  goal: 1.3,
  requests: 800,
  async prepare(systems) {
    const { ids, appIds } = await copyToBoth(systems.fixture, smallDocument);
    const patch =
      (all: readonly string[], batch: number) =>
      (i: number): BenchRequest => ({
        method: 'PATCH',
        path: `/documents/${all[i % distinct]}`,
        body: { title: `A procedure, changed for the ${batch * 10_000 + i}th time` },
      });
    return async (batch) => toBatch(systems, 'updateDocument', patch(ids, batch), patch(appIds, batch));
  },
};

const publish: SystemRow = {
  name: 'whole system: publish (10 nodes)',
  goal: 1.5,
  requests: distinct,
  async prepare(systems, count) {
    const { fixture } = systems;
    const { id } = await createDocument(fixture.api, fixture.organization.key, smallDocument);
    const post =
      (all: readonly string[]) =>
      (i: number): BenchRequest => ({
        method: 'POST',
        path: `/documents/${all[i]}/publish`,
      });
    return async () => {
      const baselineIds = await fixture.copyDocument(id, count);
      const serviceIds = await fixture.copyDocument(id, count);
      const appIds = await copyToApp(fixture.db, id, count, {});
      const batch = toBatch(systems, 'publish', post(serviceIds), post(appIds));
      return { ...batch, baseline: toBatch(systems, 'publish', post(baselineIds), post(appIds)).baseline };
    };
  },
};

/** The operations in the order in which they are measured. */
export const systemRows: readonly SystemRow[] = [
  readTree,
  readColdTree,
  list,
  embed,
  create,
  createNode,
  update,
  publish,
];

/** The same operations for five processes with RabbitMQ. They have no goals. */
export const fiveProcessRows: readonly SystemRow[] = systemRows.map(({ name, requests, prepare }) => ({
  name: name.replace('whole system', 'five processes'),
  requests,
  prepare,
}));

/** Reads `count` documents in turn. */
async function readDocuments(systems: Systems, count: number) {
  const { ids, appIds } = await copyToBoth(systems.fixture, bigDocument);
  const get =
    (all: readonly string[]) =>
    (i: number): BenchRequest => ({
      method: 'GET',
      path: `/documents/${all[i % count]}`,
    });
  return async () => toBatch(systems, 'readTree', get(ids), get(appIds));
}

/** The same requests for the service and the baseline, with an API key, and those of the app with its token. */
function toBatch(
  { fixture: { organization }, appToken }: Systems,
  handler: BaselineHandlerName,
  service: RequestSource,
  app: RequestSource,
): SystemBatch {
  const under = (prefix: string, request: BenchRequest, key: string) => ({
    ...request,
    path: prefix + request.path,
    key,
  });
  return {
    service: (i) => under('/api/v1', service(i), organization.key),
    baseline: (i) => under(`/${handler}/api/v1`, service(i), organization.key),
    app: (i) => under('', app(i), appToken),
  };
}

/** Creates a document and copies it for each operation, as drafts of the service and of the app. */
async function copyToBoth({ api, organization, copyDocument, db }: BenchFixture, document: object) {
  const { id } = await createDocument(api, organization.key, document);
  return {
    ids: await copyDocument(id, distinct),
    appIds: await copyToApp(db, id, distinct, {}),
  };
}
