/** Exports documents as files; each version is rendered once and cached up to a memory limit. */
import { createHash } from 'node:crypto';
import { create } from 'content-disposition';
import { body, NotFound, Unavailable } from '#libs/contract';
import { handle, type RequestInfo, type Route, renderCache, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import { builtIn, ExportTooLarge, exportMarkdown, exportWord, markdownType, wordType } from './contract.ts';
import { toFileName } from './formats/file-name.ts';
import { rendererVersion } from './formats/version.ts';
import type { ExportMetrics } from './metrics.ts';
import { toDocumentProperties } from './rules.ts';
import type { DocumentStore } from './store/documents.ts';
import type { TemplateStore } from './store/templates.ts';
import type { RenderJob, RenderResult } from './workers/worker.ts';
import { type RunTask, WorkerOutOfMemory, type WorkerPool } from './workers/worker-pool.ts';

/** Dependencies and limits of the export operations. */
export interface ExportDeps {
  documents: DocumentStore;
  templates: Pick<TemplateStore, 'findRenderable'>;
  workers: Pick<WorkerPool, 'use'>;
  /** Memory for cached files, bytes. */
  cacheBytes: number;
  /** Maximum total size of a document's nodes, bytes. */
  maxBytes: number;
  metrics: Pick<ExportMetrics, 'recordExport' | 'countRejected'>;
}

/** A format that a document is exported to. */
interface ExportFormat {
  type: string;
  extension: 'docx' | 'md';
  /** Identifies everything except the document that determines the bytes. */
  version: string;
  render(run: RunTask, job: RenderJob): Promise<RenderResult>;
}

/** Maximum number of reads of a document that changes while it is read. */
const maxAttempts = 5;

/** Indentation of nested content with the built-in template, inches. */
const defaultIndentInches = 0.5;

const templateNotFound = 'The template was not found. Use `default` for the built-in template.';

/** Creates the handlers of the export operations. */
export function exportHandlers({
  documents,
  templates,
  workers,
  cacheBytes,
  maxBytes,
  metrics,
}: ExportDeps): Route[] {
  const cache = renderCache(cacheBytes);
  const builtInTemplate = {
    indentInches: defaultIndentInches,
    load: memoizeSuccess((run: RunTask) => run('compileBuiltIn')),
  };
  const markdownFormat: ExportFormat = {
    type: markdownType,
    extension: 'md',
    version: `md ${rendererVersion}`,
    render: (run, job) => run('exportMarkdown', job),
  };

  return [
    handle(exportWord, async ({ actor, params, query, call }) => {
      const format = await createWordFormat(actor, query.template_id);
      return exportDocument(actor, params.doc_id, format, call);
    }),
    handle(exportMarkdown, ({ actor, params, call }) =>
      exportDocument(actor, params.doc_id, markdownFormat, call),
    ),
  ];

  async function exportDocument(actor: Actor, id: string, format: ExportFormat, call: RequestInfo) {
    const open = async () => {
      const source = await documents.findSource(actor, id);
      if (!source) throw NotFound();
      const { document, organization } = source;
      const etag = createEtag([format.version, document._id, document.row_version, organization.row_version]);
      const snapshot = {
        id: document._id,
        organizationId: document.organization_id,
        rowVersion: document.row_version,
      };
      const properties = toDocumentProperties(document, organization.name);
      const renderFile = () => workers.use((run) => render(format, run, { properties, snapshot, maxBytes }));
      return { document, etag, render: renderFile };
    };
    const found = await cache.read({ open, call, maxAttempts });
    if (!found)
      throw Unavailable('The document changed during every read. Try again.', {
        headers: { 'Retry-After': '1' },
      });
    const { document, etag } = found.version;
    const headers = { 'Content-Disposition': create(toFileName(document.title, format.extension)) };
    return reply(body(format.type, found.bytes), { etag, headers });
  }

  /** Creates the Word format of a template; its version needs only the id, because templates never change. */
  async function createWordFormat(actor: Actor, id: string): Promise<ExportFormat> {
    const template = id === builtIn ? builtInTemplate : await templates.findRenderable(actor, id);
    if (!template) throw NotFound(templateNotFound);
    return {
      type: wordType,
      extension: 'docx',
      version: `docx ${rendererVersion} ${id}`,
      async render(run, job) {
        const compiled = await template.load(run);
        // the template was deleted in the meantime
        if (!compiled) throw NotFound(templateNotFound);
        const { indentInches } = template;
        return run('exportWord', { ...job, template: compiled, indentInches });
      },
    };
  }

  /** Renders the file; returns undefined if the document changed in the meantime. */
  async function render(format: ExportFormat, run: RunTask, job: RenderJob): Promise<Uint8Array | undefined> {
    const startedAt = performance.now();
    const result = await format.render(run, job).catch(rejectIfOutOfMemory);
    if ('file' in result) {
      const seconds = (performance.now() - startedAt) / 1000;
      metrics.recordExport({ format: format.extension, bytes: result.readBytes, seconds });
      return result.file;
    }
    if (result.reason === 'changed') return undefined;
    if (result.reason === 'unavailable') throw Unavailable(undefined, { headers: { 'Retry-After': '2' } });
    metrics.countRejected('too_large');
    throw ExportTooLarge(
      `Documents of more than ${maxBytes / 2 ** 20} MiB cannot be exported. Split the document.`,
    );
  }

  function rejectIfOutOfMemory(error: unknown): never {
    if (!(error instanceof WorkerOutOfMemory)) throw error;
    metrics.countRejected('out_of_memory');
    throw ExportTooLarge(`The export needs more than ${error.memoryMb} MB of memory. Split the document.`);
  }
}

/** Creates an ETag of 27 base64url characters (160 bits of a SHA-256). */
function createEtag(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}

/** Calls `load` once and caches the result; a failed call is repeated. */
function memoizeSuccess<A, R>(load: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  let result: Promise<R> | undefined;
  return (argument) =>
    (result ??= load(argument).catch((error: unknown) => {
      result = undefined;
      throw error;
    }));
}
