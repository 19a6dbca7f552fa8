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
import type { ConvertedFile, ImportFile } from './imports/conversion.ts';
import type { ImportFault } from './imports/import-fault.ts';
import type { ImportWorkers } from './imports/import-workers.ts';
import { createDraft } from './new-draft.ts';
import { toSummary } from './presenters.ts';
import { maxContentBytes, maxNodes } from './rules/hierarchy.ts';
import type { Assets } from './store/assets.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';
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

/** What a task of an import worker returned, and how long it took. */
interface TaskOutcome<File> {
  result: { ok: true; file: File } | { ok: false; fault: ImportFault };
  seconds: number;
}

/** Handles `previewImport` and `createImport`. */
export function importHandlers(deps: ImportHandlerDeps): Route[] {
  const { store, repository, assets, importWorkers, importMetrics, now } = deps;

  const preview = async (actor: Actor, body: Upload) => {
    const { json: text, pictures } = await settle(
      importWorkers.run('previewFile', toFile(body), actor.organization_id),
    );
    await assets.addAll(actor, pictures);
    // a long preview is not stored for its Idempotency-Key: the same file gives the same preview
    return reply(json(text), { replayKey: {} });
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
      const { documents, pictures, report } = await settle(
        importWorkers.run('convertFile', toFile(body), actor.organization_id),
      );
      const at = now();
      const drafts: { document: DocumentRow; nodes: NodeRow[] }[] = [];
      for (const document of documents) {
        const blank = createDraft(actor, at, document);
        const { nodes, ...size } = await flattenTree(blank, document.nodes, actor.user_id, at);
        drafts.push({ document: { ...blank, ...size }, nodes });
      }
      await assets.addAll(actor, pictures);
      const references = pictures.map(({ id }) => ({ path: 'body/file', id }));
      return repository.respondWithNew(await repository.prepareCharge(actor), async (within) => {
        await assets.reference(within, references, within.tx);
        for (const { document, nodes } of drafts) await repository.create(within, document, nodes);
        return { documents: drafts.map(({ document }) => toSummary(document)), report };
      });
    }),
  ];

  /** Counts the outcome of a task. Errors: those of a file that cannot be imported. */
  async function settle<File extends Pick<ConvertedFile, 'report'>>(task: Promise<TaskOutcome<File>>) {
    const { result, seconds } = await task.catch((error: unknown) => {
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

function toFile({ fields, file }: Upload): ImportFile {
  return { name: file.name, bytes: file.bytes, acceptChanges: fields.tracked_changes === 'accept' };
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
