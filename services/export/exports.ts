/** Exports: documents as files, made once for each version and kept while there is room. */
import { createHash } from 'node:crypto';
import { create } from 'content-disposition';
import { body, NotFound, Unavailable } from '#libs/contract';
import { handle, type RequestInfo, type Route, renderCache, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import { builtIn, ExportTooLarge, exportMarkdown, exportWord, markdownType, wordType } from './contract.ts';
import { fileName } from './formats/file-name.ts';
import { rendererVersion } from './formats/version.ts';
import type { Metering } from './metrics.ts';
import { factsOf } from './rules.ts';
import type { DocumentStore } from './store/documents.ts';
import type { TemplateStore } from './store/templates.ts';
import { type Run, type Threads, TooMuchMemory } from './workers/worker-pool.ts';
import type { Job, Made } from './workers/worker.ts';

/** What exports need. */
export interface Exports {
  documents: DocumentStore;
  templates: Pick<TemplateStore, 'usable'>;
  threads: Pick<Threads, 'turn'>;
  /** Memory for files that were made, bytes. */
  cacheBytes: number;
  /** The most that the nodes of a document may take, bytes. */
  maxBytes: number;
  metering: Pick<Metering, 'made' | 'refused'>;
}

/** A kind of file. */
interface Form {
  type: string;
  extension: 'docx' | 'md';
  /** Names all that the bytes depend on beside the document. */
  version: string;
  render(run: Run, job: Job): Promise<Made>;
}

/** How often a document that changes while it is read is read again. */
const tries = 5;

/** Indentation of the built-in template, inches. */
const standardIndent = 0.5;

/** The body of a 304, which has none. */
const nothingNew = new Uint8Array();

const noTemplate = 'There is no template with this id; `default` is always there.';

/** The operations that export. */
export function exports({ documents, templates, threads, cacheBytes, maxBytes, metering }: Exports): Route[] {
  const kept = renderCache<Uint8Array>(cacheBytes);
  const standard = { indentInches: standardIndent, load: once((run: Run) => run('builtIn')) };
  const markdown: Form = {
    type: markdownType,
    extension: 'md',
    version: `md ${rendererVersion}`,
    render: (run, job) => run('markdown', job),
  };

  return [
    handle(exportWord, async ({ actor, params, query, call }) => {
      const form = await wordForm(actor, query.template_id);
      return exported(actor, params.doc_id, form, call);
    }),
    handle(exportMarkdown, ({ actor, params, call }) => exported(actor, params.doc_id, markdown, call)),
  ];

  async function exported(actor: Actor, id: string, form: Form, call: RequestInfo) {
    for (let left = tries; left > 0; left -= 1) {
      const opened = await documents.opened(actor, id);
      if (!opened) throw NotFound();
      const { document, organization } = opened;
      const etag = tagOf([form.version, document._id, document.row_version, organization.row_version]);
      const moment = {
        id: document._id,
        organizationId: document.organization_id,
        rowVersion: document.row_version,
      };
      const facts = factsOf(document, organization.name);
      const make = () => threads.turn((run) => rendered(form, run, { facts, moment, maxBytes }));
      const bytes = call.hasCurrent(etag) ? nothingNew : await kept.getOrRender(etag, make);
      if (!bytes) continue;
      const headers = { 'Content-Disposition': create(fileName(document.title, form.extension)) };
      return reply(body(form.type, bytes), { etag, headers });
    }
    throw Unavailable('The document is being changed at this moment: try again.', {
      headers: { 'Retry-After': '1' },
    });
  }

  /** A template of the organization, or the built-in one; templates never change. */
  async function wordForm(actor: Actor, id: string): Promise<Form> {
    const template = id === builtIn ? standard : await templates.usable(actor, id);
    if (!template) throw NotFound(noTemplate);
    return {
      type: wordType,
      extension: 'docx',
      version: `docx ${rendererVersion} ${id}`,
      async render(run, job) {
        const compiled = await template.load(run);
        // deleted at this moment
        if (!compiled) throw NotFound(noTemplate);
        const { indentInches } = template;
        return run('word', { ...job, template: compiled, indentInches });
      },
    };
  }

  /** The file; nothing when the document was written meanwhile. */
  async function rendered(form: Form, run: Run, job: Job): Promise<Uint8Array | undefined> {
    const startedAt = performance.now();
    const made = await form.render(run, job).catch(refusedIfLarge);
    if ('file' in made) {
      const seconds = (performance.now() - startedAt) / 1000;
      metering.made({ format: form.extension, bytes: made.readBytes, seconds });
      return made.file;
    }
    if (made.because === 'changed') return undefined;
    if (made.because === 'unavailable') throw Unavailable(undefined, { headers: { 'Retry-After': '2' } });
    metering.refused('too_large');
    throw ExportTooLarge(`Documents of more than ${maxBytes / 2 ** 20} MiB cannot be exported.`);
  }

  function refusedIfLarge(error: unknown): never {
    if (!(error instanceof TooMuchMemory)) throw error;
    metering.refused('out_of_memory');
    throw ExportTooLarge(`The file cannot be made with ${error.memoryMb} MB of memory.`);
  }
}

/** 27 characters of base64url: 160 bits of a SHA-256. */
function tagOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('/')).digest('base64url').slice(0, 27);
}

/** Makes something when it is first asked for, and again only when that failed. */
function once<A, R>(make: (by: A) => Promise<R>): (by: A) => Promise<R> {
  let made: Promise<R> | undefined;
  return (by) =>
    (made ??= make(by).catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}
