/** Tests exports without MongoDB: consistent reads, caching, ETags and errors. */
import { expect, test } from '@jest/globals';
import { Body, newId } from '#libs/contract';
import { WorkerOutOfMemory } from '#libs/workers';
import { exportHandlers } from './exports.ts';
import type { DocumentRecord } from './formats/document.ts';
import type { ExportSource } from './store/documents.ts';
import type { ExportWorkers } from './workers/export-workers.ts';
import type { RenderJob, RenderResult } from './workers/tasks.ts';

const actor = { organization_id: newId(), user_id: newId(), key_id: null, role: 'member' };

/** An in-memory document. Its file is its title; `state.renders` counts files. */
function fixture({ maxBytes = 100 } = {}) {
  const document = { _id: newId(), organization_id: actor.organization_id, family_id: newId() };
  const fields = { created_by: newId(), version: null, department: null, published_at: null, share_epoch: 0 };
  const state = {
    title: 'v1',
    row_version: 1,
    renders: 0,
    organization_version: 1,
    isOutOfMemory: false,
    isUnavailable: false,
    isTemplateDeleted: false,
    whileReading: () => {},
    owner: 'Ada',
    token: undefined as string | undefined,
    placeholders: [] as string[],
    now: new Date('2026-11-24T23:59:00Z'),
    status: 'draft' as 'draft' | 'published',
    /** The record of the last rendered Word file. */
    record: undefined as DocumentRecord | undefined,
  };
  const getVersion = () => ({
    ...{ ...document, created_by: fields.created_by, editor_id: null, version: null, published_at: null },
    ...{ created_at: new Date(0), updated_at: new Date(0) },
  });
  const getSource = (): ExportSource => ({
    document: {
      ...document,
      ...fields,
      status: state.status,
      title: state.title,
      row_version: state.row_version,
    },
    organization: {
      ...{ _id: actor.organization_id, name: 'Acme', slug: 'acme', row_version: state.organization_version },
      ...{ lock_published: false, embed_origins: null },
    },
  });
  const render = ({ snapshot, target, maxBytes }: RenderJob): RenderResult => {
    const nodes = state.title;
    state.whileReading();
    if (state.isUnavailable) return { reason: 'unavailable' };
    const isWord = 'record' in target;
    if (isWord && state.isTemplateDeleted) return { reason: 'no_template' };
    if (snapshot.rowVersion !== state.row_version) return { reason: 'changed' };
    if (snapshot.organizationRowVersion !== state.organization_version) return { reason: 'changed' };
    if (nodes.length > maxBytes) return { reason: 'too_large' };
    state.renders += 1;
    state.record = isWord ? target.record : undefined;
    if (state.isOutOfMemory) throw new WorkerOutOfMemory(512);
    return { file: Buffer.from(nodes), readBytes: nodes.length };
  };
  const run = async (_name: string, job: RenderJob) => ({ result: render(job), seconds: 1 });
  const [word, markdown] = exportHandlers({
    documents: {
      findSource: async (_actor, id) => (id === document._id ? getSource() : undefined),
    },
    records: {
      findRows: async () => ({
        versions: [getVersion()],
        names: new Map([[fields.created_by, state.owner]]),
      }),
      findToken: async () => state.token,
      findApprovers: async () => [],
    },
    templates: { findPlaceholders: async () => state.placeholders },
    now: () => state.now,
    appUrl: 'https://docs.example',
    // the handlers of exports use only this task
    workers: { run: run as unknown as ExportWorkers['run'] },
    metrics: { recordExport: () => undefined, countRejected: () => undefined },
    cacheBytes: 10_000,
    maxBytes,
  });
  /** Returns the text and ETag of an export. `etag` is the client's current ETag. */
  const request = async (
    etag?: string,
    { id = document._id, templateId = '', versioned = false, flavor = 'plain' } = {},
  ) => {
    const call = {
      requestId: '',
      address: '',
      prefersHtml: false,
      acceptsGzip: false,
      basicPassword: undefined,
      getCookies: () => [],
      signal: new AbortController().signal,
      hasCurrent: (tag: string) => tag === etag,
    };
    const query = { template_id: templateId, versioned, flavor };
    const input = { actor, params: { doc_id: id }, query, body: undefined };
    const handler = templateId ? word : markdown;
    const result = await handler?.run({
      ...input,
      call: { ...call, audit: () => undefined },
      authorize() {},
    });
    if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No reply');
    if (!(result.value instanceof Body)) throw new Error('No body');
    return { text: String(result.value.content), etag: 'etag' in result ? String(result.etag) : '' };
  };
  const write = (title: string) => {
    state.title = title;
    state.row_version += 1;
  };
  return { state, request, write };
}

test('an export reads a document again if it changes during the read', async () => {
  const { state, request, write } = fixture();
  state.whileReading = () => {
    if (state.title === 'v1') write('v2');
  };
  expect((await request()).text).toBe('v2');
  expect(state.renders).toBe(1);
});

test('an export is a 503 if the document changes during every read', async () => {
  const { state, request, write } = fixture();
  state.whileReading = () => write(`${state.title}+`);
  await expect(request()).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '1' } });
  expect(state.renders).toBe(0);
});

test('concurrent and repeated exports of one version render it once', async () => {
  const { state, request } = fixture();
  const all = await Promise.all([request(), request(), request()]);
  expect(all.map(({ text }) => text)).toEqual(['v1', 'v1', 'v1']);
  await request();
  expect(state.renders).toBe(1);
});

test('an export with the current ETag has no body', async () => {
  const { state, request } = fixture();
  const { etag } = await request();
  expect(await request(etag)).toEqual({ text: '', etag });
  expect(state.renders).toBe(1);
});

test('a new version of document or organization has a new file and ETag', async () => {
  const { state, request, write } = fixture();
  const first = await request();
  write('v2');
  const second = await request(first.etag);
  state.organization_version += 1;
  const third = await request(second.etag);
  expect([second.text, third.text, state.renders]).toEqual(['v2', 'v2', 3]);
  expect(new Set([first, second, third].map(({ etag }) => etag)).size).toBe(3);
});

test('an export of an unknown document is a 404', async () => {
  await expect(fixture().request(undefined, { id: newId() })).rejects.toMatchObject({ name: 'not_found' });
});

test('an export of a document that is too large is a 400 with the limit', async () => {
  const { state, request } = fixture({ maxBytes: 1 });
  await expect(request()).rejects.toMatchObject({
    name: 'export_too_large',
    message: expect.stringMatching(/more than .* MiB/),
  });
  expect(state.renders).toBe(0);
});

test('an export is a 503 with Retry-After while the database is down', async () => {
  const { state, request } = fixture();
  state.isUnavailable = true;
  await expect(request()).rejects.toMatchObject({ name: 'unavailable', headers: { 'Retry-After': '2' } });
  state.isUnavailable = false;
  expect((await request()).text).toBe('v1');
});

test('an export that exceeds the memory of a worker is a 400 with the limit', async () => {
  const { state, request } = fixture();
  state.isOutOfMemory = true;
  await expect(request()).rejects.toMatchObject({
    name: 'export_too_large',
    message: expect.stringContaining('512 MB'),
  });
});

test('an export is a 404 if its template is deleted in the meantime', async () => {
  const { state, request } = fixture();
  state.isTemplateDeleted = true;
  await expect(request(undefined, { templateId: newId() })).rejects.toMatchObject({ name: 'not_found' });
  expect((await request()).text).toBe('v1');
});

test('an export is rendered again if the organization changes meanwhile', async () => {
  const { state, request } = fixture();
  state.whileReading = () => {
    if (state.organization_version === 1) state.organization_version = 2;
  };
  expect((await request()).text).toBe('v1');
  expect([state.renders, state.organization_version]).toEqual([1, 2]);
});

const templateId = newId();

test('a Word file has a new ETag if a person of its record has a new name', async () => {
  const { state, request } = fixture();
  const first = await request(undefined, { templateId });
  expect(state.record).toMatchObject({ status: 'draft', owner: 'Ada' });
  state.owner = 'Ada King';
  const second = await request(undefined, { templateId });
  expect(state.record).toMatchObject({ owner: 'Ada King' });
  expect(second.etag).not.toBe(first.etag);
});

test('the link and the day are read only for a template that shows them', async () => {
  const { state, request } = fixture();
  state.status = 'published';
  state.token = 'secret';
  const first = await request(undefined, { templateId });
  expect(state.record).toMatchObject({ url: '', exported_at: '' });
  state.now = new Date('2026-11-25T00:00:00Z');
  state.token = undefined;
  expect((await request(undefined, { templateId })).etag).toBe(first.etag);
});

test('a Word file with the link and the day changes with them', async () => {
  const { state, request } = fixture();
  const etags = new Set<string>();
  const add = async () => etags.add((await request(undefined, { templateId })).etag);
  Object.assign(state, { status: 'published', token: 'secret', placeholders: ['url', 'exported_at'] });
  await add();
  expect(state.record).toMatchObject({
    url: 'https://docs.example/embed/acme/secret',
    exported_at: '2026-11-24',
  });
  state.now = new Date('2026-11-25T00:00:00Z');
  await add();
  state.token = undefined;
  await add();
  expect(state.record).toMatchObject({ url: '', exported_at: '2026-11-25' });
  expect(etags.size).toBe(3);
});

test('a draft has no link, even if its family is shared', async () => {
  const { state, request } = fixture();
  Object.assign(state, { token: 'secret', placeholders: ['url'] });
  await request(undefined, { templateId });
  expect(state.record).toMatchObject({ url: '' });
});
