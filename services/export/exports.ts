/** Exports documents as files; each version is rendered once and cached up to a memory limit. */
import { createHash } from 'node:crypto';
import { create } from 'content-disposition';
import { body, NotFound, Unavailable } from '#libs/contract';
import { handle, type RequestInfo, type Route, renderCache, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import { WorkerOutOfMemory } from '#libs/workers';
import {
  builtIn,
  ExportTooLarge,
  exportHtml,
  exportMarkdown,
  exportWord,
  htmlType,
  type MarkdownFlavor,
  markdownType,
  wordType,
} from './contract.ts';
import { toFileName } from './formats/file-name.ts';
import { rendererVersion } from './formats/version.ts';
import type { ExportMetrics } from './metrics.ts';
import { getApprovedAt, maxPictureBytes, toDocumentRecord } from './rules.ts';
import type { DocumentStore, ExportSource } from './store/documents.ts';
import type { RecordStore } from './store/records.ts';
import type { TemplateStore } from './store/templates.ts';
import type { ExportWorkers } from './workers/export-workers.ts';
import type { RenderJob, RenderTarget } from './workers/tasks.ts';

/** Dependencies and limits of the export operations. */
export interface ExportDeps {
  documents: Pick<DocumentStore, 'findSource'>;
  records: Pick<RecordStore, 'findRows' | 'findToken' | 'findApprovers'>;
  templates: Pick<TemplateStore, 'findPlaceholders'>;
  workers: Pick<ExportWorkers, 'run'>;
  /** Memory for cached files, bytes. */
  cacheBytes: number;
  /** Maximum total size of a document's nodes, bytes. */
  maxBytes: number;
  metrics: Pick<ExportMetrics, 'recordExport' | 'countRejected'>;
  now: () => Date;
  /** Public URL of the application, without a trailing slash; public links start with it. */
  appUrl: string;
}

/** A format that a document is exported to. */
interface ExportFormat {
  type: string;
  extension: 'docx' | 'md' | 'html';
  /** Identifies everything except the document that determines the bytes. */
  version: string;
  /** Creates what a worker renders. */
  createTarget(actor: Actor, source: ExportSource): Promise<RenderTarget>;
}

/** Maximum number of reads of a document that changes while it is read. */
const maxAttempts = 5;

const templateNotFound = 'The template was not found. Use `default` for the built-in template.';

/** Creates the handlers of the export operations. */
export function exportHandlers({
  documents,
  records,
  templates,
  workers,
  cacheBytes,
  maxBytes,
  metrics,
  now,
  appUrl,
}: ExportDeps): Route[] {
  const cache = renderCache(cacheBytes);

  return [
    handle(exportWord, async ({ actor, params, query, call }) => {
      const format = await createWordFormat(actor, query.template_id);
      return exportDocument(actor, params.doc_id, format, { call, ...query });
    }),
    handle(exportMarkdown, ({ actor, params, query, call }) =>
      exportDocument(actor, params.doc_id, createMarkdownFormat(query.flavor), { call, ...query }),
    ),
    handle(exportHtml, ({ actor, params, query, call }) =>
      exportDocument(actor, params.doc_id, htmlFormat, { call, ...query }),
    ),
  ];

  async function exportDocument(
    actor: Actor,
    id: string,
    format: ExportFormat,
    { call, versioned = false }: { call: RequestInfo; versioned?: boolean | undefined },
  ) {
    const open = async () => {
      const source = await documents.findSource(actor, id);
      if (!source) throw NotFound();
      const { document, organization } = source;
      const target = await format.createTarget(actor, source);
      const versions = [format.version, document._id, document.row_version, organization.row_version];
      const etag = createEtag([...versions, JSON.stringify(target)]);
      const snapshot = {
        id: document._id,
        organizationId: document.organization_id,
        rowVersion: document.row_version,
        organizationRowVersion: organization.row_version,
      };
      return { document, etag, render: () => render(format, { snapshot, target, maxBytes }) };
    };
    const found = await cache.read({ open, call, maxAttempts });
    if (!found)
      throw Unavailable('The document changed during every read. Try again.', {
        headers: { 'Retry-After': '1' },
      });
    const { document, etag } = found.version;
    const version = versioned ? (document.version ?? '') : '';
    const headers = { 'Content-Disposition': create(toFileName(document.title, format.extension, version)) };
    return reply(body(format.type, found.bytes), { etag, headers });
  }

  /** Creates the Word format of a template; its version needs only the id, because templates never change. */
  async function createWordFormat(actor: Actor, id: string): Promise<ExportFormat> {
    const placeholders = id === builtIn ? [] : await templates.findPlaceholders(actor, id);
    if (!placeholders) throw NotFound(templateNotFound);
    const version = `docx ${rendererVersion} ${id}`;
    return {
      type: wordType,
      extension: 'docx',
      version,
      createTarget: (within, source) => createWordTarget(within, source, { id, placeholders }),
    };
  }

  /** Reads what the file says about the document. The link and the day only if the template shows them. */
  async function createWordTarget(
    actor: Actor,
    { document, organization }: ExportSource,
    { id, placeholders }: { id: string; placeholders: readonly string[] },
  ): Promise<RenderTarget> {
    const isShared = placeholders.includes('url') && document.status === 'published';
    const showsApprovers = placeholders.includes('approved_by') && getApprovedAt(document) !== null;
    const [rows, token, approvers] = await Promise.all([
      records.findRows(actor, document),
      isShared ? records.findToken(actor, document, now()) : undefined,
      showsApprovers ? records.findApprovers(actor, document._id) : [],
    ]);
    const record = toDocumentRecord(document, rows, {
      url: token === undefined ? '' : `${appUrl}/embed/${organization.slug}/${token}`,
      exported_at: placeholders.includes('exported_at') ? now().toISOString().slice(0, 10) : '',
      approved_by: approvers.join(', '),
    });
    // the document was deleted in the meantime
    if (!record) throw NotFound();
    return { templateId: id, record };
  }

  /** Renders the file; returns undefined if the document changed in the meantime. */
  async function render({ extension }: ExportFormat, job: RenderJob): Promise<Uint8Array | undefined> {
    const { result, seconds } = await workers
      .run('renderFile', job, job.snapshot.organizationId)
      .catch(rejectIfOutOfMemory);
    if ('file' in result) {
      metrics.recordExport({ format: extension, bytes: result.readBytes, seconds });
      return result.file;
    }
    if (result.reason === 'changed') return undefined;
    // the template was deleted in the meantime
    if (result.reason === 'no_template') throw NotFound(templateNotFound);
    if (result.reason === 'unavailable') throw Unavailable(undefined, { headers: { 'Retry-After': '2' } });
    metrics.countRejected('too_large');
    if (result.reason === 'pictures_too_large')
      throw ExportTooLarge(
        `The pictures of an export may have ${maxPictureBytes / 2 ** 20} MiB in all. Split the document or use smaller pictures.`,
      );
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

function createMarkdownFormat(flavor: MarkdownFlavor): ExportFormat {
  return {
    type: markdownType,
    extension: 'md',
    version: `md ${rendererVersion} ${flavor}`,
    createTarget: async () => ({ flavor }),
  };
}

const htmlFormat: ExportFormat = {
  type: htmlType,
  extension: 'html',
  version: `html ${rendererVersion}`,
  createTarget: async () => ({ page: true }),
};

/** Creates an ETag of 27 base64url characters (160 bits of a SHA-256). */
function createEtag(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}
