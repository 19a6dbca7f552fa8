/** Exports documents as files; each version is rendered once and cached up to a memory limit. */
import { createHash } from 'node:crypto';
import { create } from 'content-disposition';
import { body, NotFound, Unavailable } from '#libs/contract';
import { handle, type RequestInfo, type Route, renderCache, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import { WorkerOutOfMemory } from '#libs/workers';
import { builtIn, ExportTooLarge, exportMarkdown, exportWord, markdownType, wordType } from './contract.ts';
import { toFileName } from './formats/file-name.ts';
import { rendererVersion } from './formats/version.ts';
import type { ExportMetrics } from './metrics.ts';
import type { DocumentSnapshot, DocumentStore } from './store/documents.ts';
import type { TemplateStore } from './store/templates.ts';
import type { ExportWorkers } from './workers/export-workers.ts';

/** Dependencies and limits of the export operations. */
export interface ExportDeps {
  documents: Pick<DocumentStore, 'findSource'>;
  templates: Pick<TemplateStore, 'exists'>;
  workers: Pick<ExportWorkers, 'run'>;
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
  /** The Word template; null for Markdown. */
  templateId: string | null;
}

/** Maximum number of reads of a document that changes while it is read. */
const maxAttempts = 5;

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
  const markdownFormat: ExportFormat = {
    type: markdownType,
    extension: 'md',
    version: `md ${rendererVersion}`,
    templateId: null,
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
        organizationRowVersion: organization.row_version,
      };
      return { document, etag, render: () => render(format, snapshot) };
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
    if (id !== builtIn && !(await templates.exists(actor, id))) throw NotFound(templateNotFound);
    return { type: wordType, extension: 'docx', version: `docx ${rendererVersion} ${id}`, templateId: id };
  }

  /** Renders the file; returns undefined if the document changed in the meantime. */
  async function render(
    { extension, templateId }: ExportFormat,
    snapshot: DocumentSnapshot,
  ): Promise<Uint8Array | undefined> {
    const job = { snapshot, templateId, maxBytes };
    const { result, seconds } = await workers.run('renderFile', job).catch(rejectIfOutOfMemory);
    if ('file' in result) {
      metrics.recordExport({ format: extension, bytes: result.readBytes, seconds });
      return result.file;
    }
    if (result.reason === 'changed') return undefined;
    // the template was deleted in the meantime
    if (result.reason === 'no_template') throw NotFound(templateNotFound);
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
