/** Tests of how public links read documents: consistent during writes, once for many requests, cached. */
import { expect, test } from '@jest/globals';
import { Body, NotFound, newId } from '#libs/contract';
import { renderCache } from '#libs/http';
import { type EmbedOptions, embedRoutes } from './embedding.ts';
import { notFoundLimit } from './not-found-limit.ts';
import { hashToken } from './rules/links.ts';
import type { DocumentState, NodeRow } from './store/share-tokens.ts';

const token = 't'.repeat(43);
const organization_id = newId();

/** A shared document in memory that counts reads of its nodes. */
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
  const { _id: document_id } = state;
  const organization = {
    ...{ _id: organization_id, name: '', slug: 'acme', row_version: 1 },
    ...{ lock_published: false, embed_origins: null },
  };
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
    findLink: async () => ({
      storedToken: { organization_id, hash: hashToken(token), share_epoch: 0 },
      organization,
      document: shared.state.status === 'published' ? { ...shared.state } : undefined,
    }),
    document: async () => ({ ...shared.state }),
    ...withoutAssets,
    async nodes() {
      shared.nodeReads += 1;
      const rows = [{ ...shared.row }];
      shared.whileReading();
      return rows;
    },
  };
  return { shared, sharing };
}

/** These tests have no documents with assets. */
const withoutAssets = { assetSizes: async () => new Map(), referencesAsset: async () => false };

/** These tests have no links with a password. */
const rejectPassword = () => Promise.reject(new Error('A password was checked'));

/** Returns a function that requests the link and returns text and ETag; `etag` is the client's cached one. */
function createClient(
  { sharing, cacheBytes }: Pick<EmbedOptions, 'sharing'> & { cacheBytes: number },
  format?: 'html',
) {
  const [route] = embedRoutes({
    sharing,
    cache: renderCache(cacheBytes),
    limit: notFoundLimit({ perMinute: 0, now: Date.now }),
    now: () => new Date(),
    appUrl: 'http://127.0.0.1',
    access: { assertAccess: rejectPassword, createCookie: rejectPassword },
    countResponse: () => undefined,
    readAsset: async () => undefined,
  });
  return async (etag?: string) => {
    const call = {
      requestId: '',
      address: '',
      prefersHtml: false,
      acceptsGzip: false,
      basicPassword: undefined,
      getCookies: () => [],
      signal: new AbortController().signal,
      hasCurrent: (tag: string) => tag === etag,
      audit: () => undefined,
    };
    const params = { org_slug: 'acme', token };
    const result = await route?.run({
      actor: undefined,
      params,
      query: { format },
      body: undefined,
      call,
      authorize() {},
    });
    if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No response');
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

test('a document that changes during a read is read again', async () => {
  const document = sharedDocument();
  document.shared.whileReading = () => {
    document.shared.whileReading = () => {};
    write(document, 'v2');
  };
  const json = JSON.parse((await createClient({ sharing: document.sharing, cacheBytes: 1e6 })()).text);
  expect([json.title, json.nodes[0].title]).toEqual(['v2', 'v2']);
  expect(document.shared.nodeReads).toBe(2);
});

test('a document that changes during every read gives 503', async () => {
  const document = sharedDocument();
  document.shared.whileReading = () => write(document, `v${document.shared.state.row_version}`);
  await expect(createClient({ sharing: document.sharing, cacheBytes: 1e6 })()).rejects.toMatchObject({
    name: 'unavailable',
  });
});

test('a document that is archived during a read gives 404', async () => {
  const document = sharedDocument();
  document.shared.whileReading = () => {
    document.shared.state.status = 'archived';
    document.shared.state.row_version += 1;
  };
  await expect(createClient({ sharing: document.sharing, cacheBytes: 1e6 })()).rejects.toMatchObject({
    kind: NotFound,
  });
});

test('nodes are read once for all requests until the document changes', async () => {
  const document = sharedDocument();
  const request = createClient({ sharing: document.sharing, cacheBytes: 1e6 });
  await Promise.all(Array.from({ length: 20 }, () => request()));
  await request();
  expect(document.shared.nodeReads).toBe(1);
  write(document, 'v2');
  expect(JSON.parse((await request()).text).nodes[0].title).toBe('v2');
  expect(document.shared.nodeReads).toBe(2);
});

test('a document larger than the cache is returned but not cached', async () => {
  const document = sharedDocument();
  const request = createClient({ sharing: document.sharing, cacheBytes: 64 });
  expect(JSON.parse((await request()).text).title).toBe('SOP');
  await request();
  expect(document.shared.nodeReads).toBe(2);
});

test('a request with the current ETag reads no nodes', async () => {
  const document = sharedDocument();
  const { etag } = await createClient({ sharing: document.sharing, cacheBytes: 1e6 })();
  const otherClient = createClient({ sharing: document.sharing, cacheBytes: 1e6 });
  expect((await otherClient(etag)).text).toBe('');
  expect(document.shared.nodeReads).toBe(1);
  write(document, 'v2');
  expect((await otherClient(etag)).text).toContain('v2');
});

test('the HTML page is cached like JSON', async () => {
  const document = sharedDocument();
  const cacheBytes = 1e6;
  const page = createClient({ sharing: document.sharing, cacheBytes }, 'html');
  expect([(await page()).text.slice(0, 15), (await page()).text.slice(-8)]).toEqual([
    '<!DOCTYPE html>',
    '</html>\n',
  ]);
  expect(document.shared.nodeReads).toBe(1);
});

test('concurrent reads of more documents than the cache can hold succeed', async () => {
  const all = Array.from({ length: 50 }, sharedDocument);
  const documentsById = new Map(all.map((document) => [document.shared.state._id, document]));
  let requests = 0;
  const sharing: EmbedOptions['sharing'] = {
    async findLink(slug, hash) {
      const rows = await all[requests++ % all.length]?.sharing.findLink(slug, hash);
      return rows ?? { storedToken: undefined, organization: undefined, document: undefined };
    },
    document: async (_organization, id) => documentsById.get(id)?.sharing.document('', id),
    ...withoutAssets,
    async nodes(id) {
      await new Promise((resolve) => setImmediate(resolve));
      return documentsById.get(id)?.sharing.nodes(id) ?? [];
    },
  };
  const request = createClient({ sharing, cacheBytes: 600 });
  const responses = await Promise.all(Array.from({ length: 200 }, () => request()));
  expect(responses.every(({ text }) => JSON.parse(text).title === 'SOP')).toBe(true);
});
