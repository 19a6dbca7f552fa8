/** How embedding reads: consistent while others write, once for many, from memory when nothing changed. */
import { expect, test } from '@jest/globals';
import { Body, NotFound, newId } from '#libs/contract';
import { type EmbedOptions, embedRoutes } from './embedding.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { hashToken } from './rules.ts';
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
  const held = { _id: newId(), organization_id, family_id, hash: hashToken(token), sealed: '' };
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
  const sharing: EmbedOptions['sharing'] = {
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

/** Opens the link: the text of the answer; with `etag`, as a client that has that answer already. */
function openerOf(options: Pick<EmbedOptions, 'sharing' | 'cacheBytes'>, format?: 'html') {
  const [handled] = embedRoutes({
    ...options,
    limit: notFoundLimit({ perMinute: 0, now: Date.now }),
    countResponse: () => undefined,
  });
  return async (etag?: string) => {
    const call = {
      requestId: '',
      address: '',
      prefersHtml: false,
      hasCurrent: (tag: string) => tag === etag,
      audit: () => undefined,
    };
    const params = { org_slug: 'acme', token };
    const result = await handled?.run({ actor: undefined, params, query: { format }, body: undefined, call });
    if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No answer');
    if (!(result.value instanceof Body)) throw new Error('No body');
    const text = Buffer.from(result.value.content as Uint8Array).toString();
    return { text, etag: 'etag' in result ? String(result.etag) : '' };
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
  const shown = JSON.parse((await openerOf({ sharing: one.sharing, cacheBytes: 1e6 })()).text);
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
  await Promise.all(Array.from({ length: 20 }, () => open()));
  await open();
  expect(one.shared.nodeReads).toBe(1);
  write(one, 'v2');
  expect(JSON.parse((await open()).text).nodes[0].title).toBe('v2');
  expect(one.shared.nodeReads).toBe(2);
});

test('a document larger than the whole cache is answered and not kept', async () => {
  const one = sharedDocument();
  const open = openerOf({ sharing: one.sharing, cacheBytes: 64 });
  expect(JSON.parse((await open()).text).title).toBe('SOP');
  await open();
  expect(one.shared.nodeReads).toBe(2);
});

test('whoever has the answer already is told so without reading any node', async () => {
  const one = sharedDocument();
  const { etag } = await openerOf({ sharing: one.sharing, cacheBytes: 1e6 })();
  const again = openerOf({ sharing: one.sharing, cacheBytes: 1e6 });
  expect((await again(etag)).text).toBe('');
  expect(one.shared.nodeReads).toBe(1);
  write(one, 'v2');
  expect((await again(etag)).text).toContain('v2');
});

test('JSON and page are kept side by side', async () => {
  const one = sharedDocument();
  const cacheBytes = 1e6;
  const page = openerOf({ sharing: one.sharing, cacheBytes }, 'html');
  expect([(await page()).text.slice(0, 15), (await page()).text.slice(-8)]).toEqual([
    '<!DOCTYPE html>',
    '</html>\n',
  ]);
  expect(one.shared.nodeReads).toBe(1);
});

test('many documents at once through a cache that holds none of them are all answered', async () => {
  const all = Array.from({ length: 50 }, sharedDocument);
  const held = new Map(all.map((one) => [one.shared.state._id, one]));
  let asked = 0;
  const sharing: EmbedOptions['sharing'] = {
    ...(all[0]?.sharing as EmbedOptions['sharing']),
    published: async () => ({ ...(all[asked++ % all.length]?.shared.state as DocumentState) }),
    document: async (_organization, id) => held.get(id)?.sharing.document('', id),
    async nodes(id) {
      await new Promise((resolve) => setImmediate(resolve));
      return held.get(id)?.sharing.nodes(id) ?? [];
    },
  };
  const open = openerOf({ sharing, cacheBytes: 600 });
  const told = await Promise.all(Array.from({ length: 200 }, () => open()));
  expect(told.every(({ text }) => JSON.parse(text).title === 'SOP')).toBe(true);
});
