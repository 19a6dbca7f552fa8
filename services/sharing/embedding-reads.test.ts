/** How embedding reads: consistent while others write, once for many, from memory when nothing changed. */
import { expect, test } from '@jest/globals';
import { Json, NotFound, newId } from '#libs/contract';
import { type Embedding, embedding } from './embedding.ts';
import { tokenHash } from './rules.ts';
import type { DocumentState, NodeRow } from './store.ts';

const token = 't'.repeat(43);
const organization_id = newId();

/** A shared document in memory, whose reads are counted. */
function sharedDocument() {
  const state: DocumentState = {
    _id: newId(),
    organization_id,
    family_id: newId(),
    created_by: newId(),
    title: 'SOP',
    version: null,
    department: null,
    status: 'published',
    published_at: new Date(),
    row_version: 1,
    share_epoch: 0,
  };
  const { _id: document_id, family_id } = state;
  const held = { _id: newId(), organization_id, family_id, hash: tokenHash(token), sealed: '' };
  const row: NodeRow = {
    _id: newId(),
    document_id,
    parent_id: null,
    node_type: 'section',
    title: 'v1',
    content: null,
    order: 0,
  };
  const shared = { state, row, nodeReads: 0, whileReading: () => {} };
  const sharing: Embedding['sharing'] = {
    organizationBySlug: async (slug) => ({
      ...{ _id: organization_id, name: '', slug, row_version: 1 },
      ...{ lock_published: false, embed_origins: null },
    }),
    byToken: async () => ({ ...held, share_epoch: 0, created_at: new Date() }),
    published: async () => (shared.state.status === 'published' ? { ...shared.state } : undefined),
    document: async () => ({ ...shared.state }),
    async nodes() {
      shared.nodeReads += 1;
      const rows = [{ ...shared.row }];
      shared.whileReading();
      return rows;
    },
  };
  return { shared, sharing };
}

function openerOf(of: Embedding) {
  const [handled] = embedding(of);
  return async (): Promise<string> => {
    const call = { requestId: '', address: '', prefersHtml: false };
    const params = { org_slug: 'acme', token };
    const result = await handled?.run({ actor: undefined, params, query: {}, body: undefined, call });
    if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No answer');
    if (!(result.value instanceof Json)) throw new Error('No JSON');
    return Buffer.from(result.value.text).toString();
  };
}

function write({ shared }: ReturnType<typeof sharedDocument>, title: string) {
  shared.row.title = title;
  shared.state.title = title;
  shared.state.row_version += 1;
}

test('a document that changes while it is read is read again', async () => {
  const one = sharedDocument();
  one.shared.whileReading = () => {
    one.shared.whileReading = () => {};
    write(one, 'v2');
  };
  const shown = JSON.parse(await openerOf({ sharing: one.sharing, cacheBytes: 1e6 })());
  expect([shown.title, shown.nodes[0].title]).toEqual(['v2', 'v2']);
  expect(one.shared.nodeReads).toBe(2);
});

test('a document that never stops changing is a 503, not a mix of two versions', async () => {
  const one = sharedDocument();
  one.shared.whileReading = () => write(one, `v${one.shared.state.row_version}`);
  await expect(openerOf({ sharing: one.sharing, cacheBytes: 1e6 })()).rejects.toMatchObject({
    name: 'unavailable',
  });
});

test('a document that is archived while it is read is a 404', async () => {
  const one = sharedDocument();
  one.shared.whileReading = () => {
    one.shared.state.status = 'archived';
    one.shared.state.row_version += 1;
  };
  await expect(openerOf({ sharing: one.sharing, cacheBytes: 1e6 })()).rejects.toMatchObject({
    kind: NotFound,
  });
});

test('nodes are read once for all who ask at once and after, until the document changes', async () => {
  const one = sharedDocument();
  const open = openerOf({ sharing: one.sharing, cacheBytes: 1e6 });
  await Promise.all(Array.from({ length: 20 }, open));
  await open();
  expect(one.shared.nodeReads).toBe(1);
  write(one, 'v2');
  expect(JSON.parse(await open()).nodes[0].title).toBe('v2');
  expect(one.shared.nodeReads).toBe(2);
});

test('a document larger than the whole cache is answered and not kept', async () => {
  const one = sharedDocument();
  const open = openerOf({ sharing: one.sharing, cacheBytes: 64 });
  expect(JSON.parse(await open()).title).toBe('SOP');
  await open();
  expect(one.shared.nodeReads).toBe(2);
});
