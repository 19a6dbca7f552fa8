/** Tests the export of a library without MongoDB: documents that a worker cannot render. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import PizZip from 'pizzip';
import { Body, newId } from '#libs/contract';
import { WorkerOutOfMemory } from '#libs/workers';
import type { ExportWorkers } from '../workers/export-workers.ts';
import type { RenderJob, RenderResult } from '../workers/tasks.ts';
import { libraryHandlers } from './exporting-library.ts';

const actor = { organization_id: newId(), user_id: newId(), key_id: null, role: 'admin' };

/** Exports a library of these documents. Returns the archive, or undefined and the errors for the log. */
async function exportDocuments(ids: readonly string[], render: (job: RenderJob) => RenderResult) {
  const errors: unknown[] = [];
  const state = { created_by: newId(), version: null, department: null, published_at: null, share_epoch: 0 };
  const run = async (_name: string, job: RenderJob) => ({ result: render(job), seconds: 1 });
  const [route] = libraryHandlers({
    store: { transact: async (_actor, work) => work({ publish: () => undefined } as never) },
    documents: {
      findSource: async ({ organization_id }, _id) => ({
        document: {
          ...{ ...state, _id, organization_id, family_id: _id },
          ...{ status: 'draft', title: 'One', row_version: 1 },
        },
        organization: {
          ...{ _id: organization_id, name: 'Acme', slug: 'acme', row_version: 1 },
          ...{ lock_published: false, embed_origins: null },
        },
      }),
      findOrganization: async () => undefined,
      async *readAssets() {},
    },
    library: {
      listIds: async () => [...ids],
      // the manifest needs only these fields
      find: async (_actor, _id) =>
        ({ _id, row_version: 1, updated_at: new Date(), parent_doc_id: null }) as never,
    },
    // the export of a library uses only this task
    workers: { run: run as unknown as ExportWorkers['run'] },
    maxBytes: 100,
    now: () => new Date(),
    onError: (error) => errors.push(error),
  });
  const call = { signal: new AbortController().signal };
  const result = await route?.run({
    ...{ actor, params: {}, query: {}, body: undefined },
    call,
    authorize() {},
  } as never);
  if (typeof result !== 'object' || result === null || !('value' in result)) throw new Error('No reply');
  if (!(result.value instanceof Body && result.value.content instanceof Readable))
    throw new Error('No stream');
  const archive = await buffer(result.value.content).catch(() => undefined);
  return { archive, errors };
}

const [first, large] = [newId(), newId()];
const file = { file: Buffer.from('{}'), readBytes: 2 };

test('a document whose Markdown exceeds the memory is exported as JSON', async () => {
  const { archive, errors } = await exportDocuments([large, first], ({ snapshot, target }) => {
    if (snapshot.id === large && 'flavor' in target) throw new WorkerOutOfMemory(512);
    return file;
  });
  expect(errors).toEqual([]);
  const paths = [`${large}/document.json`, `${first}/document.json`, `${first}/document.md`];
  expect(Object.keys(new PizZip(archive ?? '').files)).toEqual([
    ...paths.map((path) => `documents/${path}`),
    'manifest.json',
  ]);
});

test.each<[string, Error, string]>([
  ['needs too much memory', new WorkerOutOfMemory(512), 'out_of_memory'],
  ['is defective', new Error('No such node'), ''],
])('the log names the document that ends an export if it %s', async (_why, failure, reason) => {
  const { archive, errors } = await exportDocuments([first, large], ({ snapshot }) => {
    if (snapshot.id === large) throw failure;
    return file;
  });
  expect(archive).toBeUndefined();
  expect(errors.map(String)).toEqual([expect.stringContaining(`The document ${large} cannot be exported`)]);
  expect(String(errors[0])).toContain(reason);
});
