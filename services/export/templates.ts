/** Uploads, lists and deletes the .docx templates of Word exports. */
import { z } from 'zod';
import { id, NotFound, parseCursor } from '#libs/contract';
import { handle, type Route, toPage } from '#libs/http';
import type { Actor, Transaction } from '#libs/store';
import { WorkerOutOfMemory } from '#libs/workers';
import type { StorageQuota } from '../identity/storage-quota.ts';
import { createTemplate, deleteTemplate, listTemplates, type Template, TemplateInvalid } from './contract.ts';
import type { TemplateRow, TemplateStore } from './store/templates.ts';
import type { ExportWorkers } from './workers/export-workers.ts';

/** Dependencies of the template operations. */
export interface TemplateDeps {
  templates: TemplateStore;
  workers: Pick<ExportWorkers, 'run'>;
  storageQuota: StorageQuota;
  now: () => Date;
}

const position = z.tuple([id]);

/** Creates the handlers of the template operations. */
export function templateHandlers({ templates, workers, storageQuota, now }: TemplateDeps): Route[] {
  return [
    handle(createTemplate, async ({ actor, body }) => {
      const { fields, file } = body;
      const { result } = await workers
        .run('checkTemplate', file.bytes, actor.organization_id)
        .catch(rejectIfOutOfMemory);
      if (!result.ok) {
        const { code, message } = result.fault;
        throw TemplateInvalid(message, { extra: { reason: code } });
      }
      const template = { ...fields, original: file.bytes, report: result.report, at: now() };
      const claim = (within: Actor & { tx: Transaction }) =>
        storageQuota.claim(within, 'template_bytes', () => templates.sumBytes(within), file.bytes.byteLength);
      return templates.add(actor, template, claim, toTemplate);
    }),

    handle(listTemplates, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await templates.list(actor, { before, limit: query.limit + 1 });
      return toPage({ found, limit: query.limit, toItem: toTemplate, position: ({ _id }) => [_id] });
    }),

    handle(deleteTemplate, async ({ actor, params, authorize }) => {
      const template = await templates.find(actor, params.template_id);
      if (!template) throw NotFound();
      authorize(template);
      if (!(await templates.remove(actor, template))) throw NotFound();
      return undefined;
    }),
  ];
}

function rejectIfOutOfMemory(error: unknown): never {
  if (!(error instanceof WorkerOutOfMemory)) throw error;
  throw TemplateInvalid(
    `Checking the file needs more than ${error.memoryMb} MB of memory. Simplify the template.`,
    {
      extra: { reason: 'too_large' },
    },
  );
}

function toTemplate(row: TemplateRow): Template {
  const { _id, organization_id, created_by, name, indent_inches, size_bytes, placeholders, warnings } = row;
  return {
    id: _id,
    organization_id,
    created_by,
    name,
    indent_inches,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    size_bytes,
    placeholders,
    warnings,
  };
}
