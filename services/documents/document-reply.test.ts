/** Tests the cache of rendered documents: replies always contain the stored state. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '#libs/contract';
import type { Reply } from '#libs/http';
import type { Store } from '#libs/store';
import { createDocumentReply, type DocumentReply } from './document-reply.ts';
import { type DocumentRow, nodes } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import { type Trees, trees } from './store/tree.ts';
import { documentRow, nodeRow } from './testing/rows.ts';
import { createTestRepository, type DocumentStores, openDocumentStores } from './testing/store-fixture.ts';

let fixture: DocumentStores;
let store: Store;
let nodeTrees: Trees;
let repository: DocumentRepository;
let documentReply: DocumentReply;
const at = new Date('2026-11-21T09:30:00.000Z');
const anyone = { authorize: () => undefined };

beforeAll(async () => {
  fixture = await openDocumentStores();
  [store] = fixture.stores as [Store];
  nodeTrees = trees(store);
  // with a fixed clock, versions differ only in their number
  repository = createTestRepository(store, () => at);
  documentReply = createDocumentReply({ repository: repository, trees: nodeTrees, cacheBytes: 300_000 });
});
afterAll(() => fixture?.stop());

const toActor = ({ organization_id, created_by }: DocumentRow) => ({ organization_id, user_id: created_by });
const read = ({ value }: Reply<Json>) => JSON.parse(value.text.toString());
const titles = async (document: DocumentRow): Promise<string[]> =>
  read(await documentReply.load(toActor(document), document._id)).nodes.map(
    ({ title }: { title: string }) => title,
  );

/** Stores a document with one node that has text of this length. */
async function createDocument(length = 10): Promise<DocumentRow> {
  const document = documentRow({ node_count: 1, content_bytes: length });
  const content = JSON.stringify({ type: 'doc', content: [{ type: 'text', text: 'x'.repeat(length) }] });
  const actor = await repository.prepareCharge(toActor(document));
  await repository.create(actor, document, [nodeRow(document, { title: 'as it was', content })]);
  return document;
}

/** Changes the node of a document in MongoDB without changing the version of the document. */
async function changeNodeDirectly(document: DocumentRow, title: string): Promise<void> {
  await store.rows(nodes).updateOne({ document_id: document._id }, { title });
}

test('nodes are read again only when the version of the document changed', async () => {
  const document = await createDocument();
  expect(await titles(document)).toEqual(['as it was']);
  await changeNodeDirectly(document, 'unseen');
  expect(await titles(document)).toEqual(['as it was']);
  await repository.update(toActor(document), document._id, anyone, async () => ({
    change: { version: '2' },
  }));
  expect(await titles(document)).toEqual(['unseen']);
});

test('nodes are not read for a client that has the current version', async () => {
  const document = await createDocument();
  const readBatches = () => {
    throw new Error('The nodes were read');
  };
  const replyWithoutNodes = createDocumentReply({ repository, trees: { readBatches }, cacheBytes: 300_000 });
  const load = (known: string) =>
    replyWithoutNodes.load(toActor(document), document._id, { hasCurrent: (etag) => etag === known });
  expect((await load('1')).etag).toBe('1');
  await expect(load('0')).rejects.toThrow('The nodes were read');
});

test('a changed row is rendered with the cached nodes, whatever it contains', async () => {
  const document = await createDocument();
  expect(await titles(document)).toEqual(['as it was']);
  await changeNodeDirectly(document, 'unseen');
  const update = async (change: Partial<DocumentRow>) => {
    const { document: changed, result } = await repository.update(
      toActor(document),
      document._id,
      anyone,
      async (before) => ({ change, result: await documentReply.renderBefore(before) }),
    );
    return read(await documentReply.fromRendered(changed, result));
  };
  const change = { title: '","nodes":[ ] } — Ünïcödé 😀', version: ',"nodes":[', department: '\\' };
  expect(await update(change)).toMatchObject({ ...change, nodes: [{ title: 'as it was' }] });
  const reply = await update({ department: null });
  expect(reply).toMatchObject({ ...change, department: null, nodes: [{ title: 'as it was' }] });
  expect(read(await documentReply.load(toActor(document), document._id))).toEqual(reply);
});

test('the cache holds at most the configured number of bytes', async () => {
  const [first, second, third] = [
    await createDocument(120_000),
    await createDocument(120_000),
    await createDocument(120_000),
  ];
  for (const document of [first, second, third]) {
    await titles(document);
    await changeNodeDirectly(document, 'read again');
  }
  // two documents fit, so the first was evicted
  expect([await titles(third), await titles(second)]).toEqual([['as it was'], ['as it was']]);
  expect(await titles(first)).toEqual(['read again']);
  const huge = await createDocument(400_000);
  await titles(huge);
  await changeNodeDirectly(huge, 'never cached');
  expect(await titles(huge)).toEqual(['never cached']);
});

test('concurrent replies that exceed the cache size all succeed', async () => {
  const many = await Promise.all(Array.from({ length: 12 }, () => createDocument(120_000)));
  expect(await Promise.all(many.map(titles))).toEqual(many.map(() => ['as it was']));
});

test('a reply inside a transaction that fails is not cached', async () => {
  const document = await createDocument();
  const failing = store.transact(toActor(document), async (tx) => {
    const within = { ...toActor(document), tx };
    const { document: changed } = await repository.update(within, document._id, anyone, async () => ({
      change: { title: 'Never' },
    }));
    expect(read(await documentReply.fromNodes(changed, [])).title).toBe('Never');
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  const { document: changed } = await repository.update(
    toActor(document),
    document._id,
    anyone,
    async () => ({
      change: { title: 'Really' },
    }),
  );
  expect(changed.row_version).toBe(2);
  expect(read(await documentReply.load(toActor(document), document._id)).title).toBe('Really');
});

test('a document that changes while it is read is returned consistently', async () => {
  const document = await createDocument();
  const replyDuringWrite = createDocumentReply({
    cacheBytes: 300_000,
    repository: repository,
    trees: {
      async *readBatches(tree) {
        yield* nodeTrees.readBatches(tree);
        // a write happens after the nodes were read, but before the row is read again
        await repository.respond(toActor(document), document._id, (within, tx) =>
          repository.update(within, document._id, anyone, async () => {
            await nodeTrees.add([nodeRow(document, { title: 'added', order: 1 })], tx);
            return { change: { node_count: 2 } };
          }),
        );
      },
    },
  });
  const response = await replyDuringWrite.load(toActor(document), document._id);
  const nodeTitles = read(response).nodes.map(({ title }: { title: string }) => title);
  expect([response.etag, nodeTitles]).toEqual(['2', ['as it was', 'added']]);
});
