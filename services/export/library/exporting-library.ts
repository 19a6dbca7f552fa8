/** Exports the documents of an organization as one zip archive. */
import { setTimeout as pause } from 'node:timers/promises';
import { create } from 'content-disposition';
import { body, Problem, Unavailable } from '#libs/contract';
import { handle, type Route, reply } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { WorkerOutOfMemory } from '#libs/workers';
import { manifestPath, toAssetPath, toDocumentPaths } from '../../documents/contract.ts';
import { exportLibrary, zipType } from '../contract.ts';
import { LibraryExported } from '../events.ts';
import { toFileName } from '../formats/file-name.ts';
import type { DocumentStore, ExportSource } from '../store/documents.ts';
import type { LibraryDocument, LibraryStore } from '../store/library.ts';
import type { ExportWorkers } from '../workers/export-workers.ts';
import type { RenderTarget } from '../workers/tasks.ts';
import { type ManifestAsset, type ManifestDocument, toManifestDocument, writeManifest } from './manifest.ts';
import { type ArchiveFile, createZipStream } from './zip-stream.ts';

/** Dependencies and limits of `libraryHandlers`. */
export interface LibraryDeps {
  store: Pick<Store, 'transact'>;
  documents: Pick<DocumentStore, 'findSource' | 'findOrganization' | 'readAssets'>;
  library: LibraryStore;
  workers: Pick<ExportWorkers, 'run'>;
  /** Maximum total size of the nodes of a document with a `document.md`, bytes. */
  maxBytes: number;
  now: () => Date;
  /** Called when an archive ends before it is complete, except if the client disconnects. */
  onError(error: unknown): void;
}

/** The archives that a process writes at the same time, each for another organization. */
const maxRunning = 2;

/** Maximum number of reads of a document that changes while it is read, or for which no worker is free. */
const maxAttempts = 240;

/** The pause before a document is read again, ms. */
const retryMs = 250;

/** A document of the archive with its files. */
interface ExportedDocument {
  row: LibraryDocument;
  json: Uint8Array;
  /** Undefined if the document is too large for Markdown. */
  markdown: Uint8Array | undefined;
  /** The ids of the pictures that it names. */
  assetIds: readonly string[];
}

/** Creates the handler of `exportLibrary`. */
export function libraryHandlers(deps: LibraryDeps): Route[] {
  const { store, documents, library, now, onError } = deps;
  /** The organizations whose archives are being written. */
  const running = new Set<string>();
  return [
    handle(exportLibrary, async ({ actor, query, call }) => {
      const { organization_id } = actor;
      if (running.has(organization_id))
        throw createRejection('Another archive of your organization is being exported.');
      if (running.size >= maxRunning) throw createRejection('Other archives are being exported.');
      running.add(organization_id);
      let hasStarted = false;
      const end = () => {
        running.delete(organization_id);
      };
      try {
        const [organization, ids] = await Promise.all([
          documents.findOrganization(actor),
          library.listIds(actor, query),
        ]);
        // before the first byte, so that nobody has an archive that the audit log does not know
        await store.transact(actor, async (tx) => {
          const { status = null, department = null, updated_since } = query;
          const selection = { status, department, updated_since: updated_since?.toISOString() ?? null };
          tx.publish(LibraryExported, selection);
        });
        const stream = createZipStream(listFiles(deps, actor, { ids, signal: call.signal }), onError);
        stream.once('close', end);
        hasStarted = true;
        const name = toFileName(organization?.name ?? '', 'zip', now().toISOString().slice(0, 10));
        return reply(body(zipType, stream), { headers: { 'Content-Disposition': create(name) } });
      } finally {
        if (!hasStarted) end();
      }
    }),
  ];
}

function createRejection(reason: string): Problem {
  return Unavailable(`${reason} Try again after the time in \`Retry-After\`.`, {
    headers: { 'Retry-After': '30' },
  });
}

/**
 * Yields the files of the archive: those of each document, followed by the pictures that no document before it names,
 * and the manifest at the end.
 */
async function* listFiles(
  deps: LibraryDeps,
  actor: Actor,
  { ids, signal }: { ids: readonly string[]; signal: AbortSignal },
): AsyncGenerator<ArchiveFile> {
  const entries: ManifestDocument[] = [];
  const assets: ManifestAsset[] = [];
  const known = new Set<string>();
  const exportedAt = deps.now();
  for (const id of ids) {
    const found = await readDocument(deps, actor, { id, signal });
    // it was deleted during the export
    if (!found) continue;
    const [paths, modifiedAt] = [toDocumentPaths(id), found.row.updated_at];
    yield { path: paths.json, bytes: found.json, modifiedAt };
    if (found.markdown) yield { path: paths.markdown, bytes: found.markdown, modifiedAt };
    entries.push(toManifestDocument(found.row));
    const ids = found.assetIds.filter((assetId) => !known.has(assetId));
    for await (const { bytes, ...asset } of deps.documents.readAssets(actor.organization_id, ids)) {
      const path = toAssetPath(asset);
      yield { path, bytes, modifiedAt, isCompressed: true };
      known.add(asset.id);
      assets.push({ path, ...asset });
    }
  }
  const content = { exportedAt, organizationId: actor.organization_id, documents: entries, assets };
  yield { path: manifestPath, bytes: writeManifest(content), modifiedAt: exportedAt };
}

/** Reads a document until all its files are of the same version. Returns undefined if it was deleted. */
async function readDocument(
  deps: LibraryDeps,
  actor: Actor,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<ExportedDocument | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const [row, source] = await Promise.all([
      deps.library.find(actor, id),
      deps.documents.findSource(actor, id),
    ]);
    if (!row || !source) return undefined;
    const isSameVersion = row.row_version === source.document.row_version;
    const files = isSameVersion && (await renderFiles(deps, source));
    if (files) return { row, ...files };
    await pause(retryMs, undefined, { signal });
  }
  throw new Error(`The document ${id} changed during every read, or no worker was free`);
}

/** Renders the files of a version. Returns undefined if the document changed, or no worker was free. */
async function renderFiles(
  { workers, maxBytes }: LibraryDeps,
  { document, organization }: ExportSource,
): Promise<Omit<ExportedDocument, 'row'> | undefined> {
  const snapshot = {
    id: document._id,
    organizationId: document.organization_id,
    rowVersion: document.row_version,
    organizationRowVersion: organization.row_version,
  };
  const render = async (target: RenderTarget) => {
    const run = workers.run('renderFile', { snapshot, target, maxBytes }, document.organization_id);
    const { result } = await run.catch((error: unknown) => ({ result: toFailure(error, document._id) }));
    return 'reason' in result && retryReasons.includes(result.reason) ? undefined : result;
  };
  const json = await render({ library: true });
  if (json && 'reason' in json)
    throw new Error(`The document ${document._id} cannot be exported: ${json.reason}`);
  const markdown = json && (await render({ flavor: 'plain' }));
  if (!markdown) return undefined;
  const file = 'file' in markdown ? markdown.file : undefined;
  return { json: json.file, markdown: file, assetIds: json.assetIds ?? [] };
}

/** Why a document is read again. */
const retryReasons = ['changed', 'unavailable'];

/** Maps an error of the worker pool to the reason why there is no file. Other errors get the id of the document. */
function toFailure(error: unknown, documentId: string) {
  if (error instanceof WorkerOutOfMemory) return { reason: 'out_of_memory' as const };
  if (error instanceof Problem && error.kind === Unavailable) return { reason: 'unavailable' as const };
  throw new Error(`The document ${documentId} cannot be exported`, { cause: error });
}
