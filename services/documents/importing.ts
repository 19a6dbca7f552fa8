/** Imports Word, Markdown and HTML files: previews what they contain, and creates drafts. */
import { type BodyOf, json, PayloadTooLarge } from '#libs/contract';
import { handle, type Route, reply } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { WorkerOutOfMemory } from '#libs/workers';
import {
  ContentTooLarge,
  createImport,
  ImportInvalid,
  ImportTooLarge,
  previewImport,
  TooManyNodes,
} from './contract.ts';
import type { ImportMetrics } from './import-metrics.ts';
import type { ConvertedFile, ImportedDocument } from './imports/conversion.ts';
import type { ImportFault } from './imports/import-fault.ts';
import type { ImportWorkers } from './imports/import-workers.ts';
import { createDraft } from './new-draft.ts';
import { toSummary } from './presenters.ts';
import { maxContentBytes, maxNodes } from './rules/hierarchy.ts';
import type { TreeInput } from './shapes.ts';
import type { Assets } from './store/assets.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import { flattenTree } from './tree-input.ts';

/** The dependencies of `importHandlers`. */
export interface ImportHandlerDeps {
  store: Pick<Store, 'respond'>;
  repository: DocumentRepository;
  assets: Pick<Assets, 'addAll' | 'reference'>;
  importWorkers: Pick<ImportWorkers, 'run'>;
  importMetrics: ImportMetrics;
  now: () => Date;
}

type Upload = BodyOf<typeof createImport>;

/** Handles `previewImport` and `createImport`. */
export function importHandlers(deps: ImportHandlerDeps): Route[] {
  const { store, repository, assets, importWorkers, importMetrics, now } = deps;

  const preview = async (actor: Actor, body: Upload) => {
    const { documents, pictures, report } = await convert(body);
    await assets.addAll(actor, pictures);
    // a long preview is not stored for its Idempotency-Key: the same file gives the same preview
    return reply(json(renderPreview(documents, report)), { replayKey: {} });
  };

  return [
    handle(
      previewImport,
      async ({ actor, body }) => {
        const answer = await preview(actor, body);
        return actor.idempotency ? store.respond(actor, async () => answer) : answer;
      },
      { replay: ({ actor, body }) => preview(actor, body) },
    ),

    handle(createImport, async ({ actor, body }) => {
      const { documents, pictures, report } = await convert(body);
      const at = now();
      const drafts = documents.map((document) => {
        const blank = createDraft(actor, at, document);
        const { nodes, ...size } = flattenTree(blank, document.nodes, actor.user_id, at);
        return { document: { ...blank, ...size }, nodes };
      });
      await assets.addAll(actor, pictures);
      const references = pictures.map(({ id }) => ({ path: 'body/file', id }));
      return repository.respondWithNew(await repository.prepareCharge(actor), async (within) => {
        await assets.reference(within, references, within.tx);
        for (const { document, nodes } of drafts) await repository.create(within, document, nodes);
        return { documents: drafts.map(({ document }) => toSummary(document)), report };
      });
    }),
  ];

  async function convert({ fields, file }: Upload): Promise<ConvertedFile> {
    const acceptChanges = fields.tracked_changes === 'accept';
    const input = { name: file.name, bytes: file.bytes, acceptChanges };
    const { result, seconds } = await importWorkers.run('convertFile', input).catch((error: unknown) => {
      if (!(error instanceof WorkerOutOfMemory)) throw error;
      importMetrics.countRejected('out_of_memory');
      const message = `Reading the file needs more than ${error.memoryMb} MB of memory. Split or simplify it.`;
      throw ImportInvalid(message, { extra: { reason: 'bomb' } });
    });
    if (!result.ok) {
      importMetrics.countRejected('reason' in result.fault ? 'invalid' : 'too_large');
      throw toProblem(result.fault);
    }
    importMetrics.recordImport({ format: result.file.report.format, seconds });
    return result.file;
  }
}

function toProblem(fault: ImportFault) {
  const { message } = fault;
  if ('reason' in fault) return ImportInvalid(message, { extra: { reason: fault.reason } });
  switch (fault.limit) {
    case 'file_too_large':
      return PayloadTooLarge(message);
    case 'import_too_large':
      return ImportTooLarge(message);
    case 'too_many_nodes':
      return TooManyNodes(message, { extra: { limit: maxNodes } });
    case 'content_too_large':
      return ContentTooLarge(message, { extra: { limit_bytes: maxContentBytes } });
  }
}

/** Renders a preview. The rich text is JSON text already. */
function renderPreview(documents: readonly ImportedDocument[], report: ConvertedFile['report']): string {
  const texts = documents.map(({ nodes, ...fields }) => {
    const opening = JSON.stringify(fields).slice(0, -1);
    return `${opening},"nodes":${renderNodes(nodes)}}`;
  });
  return `{"documents":[${texts.join(',')}],"report":${JSON.stringify(report)}}`;
}

function renderNodes(nodes: readonly TreeInput[]): string {
  const texts = nodes.map(({ node_type, title, content, children = [] }) => {
    const opening = JSON.stringify({ node_type, title }).slice(0, -1);
    return `${opening},"content":${content ?? 'null'},"children":${renderNodes(children)}}`;
  });
  return `[${texts.join(',')}]`;
}
