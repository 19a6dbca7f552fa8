/** Templates: uploading, listing and deleting the .docx files that style Word exports. */
import { z } from 'zod';
import { Forbidden, id, NotFound, parseCursor } from '#libs/contract';
import { handle, type Route, toPage } from '#libs/http';
import { createTemplate, deleteTemplate, listTemplates, type Template, TemplateInvalid } from './contract.ts';
import { mayDelete } from './rules.ts';
import type { TemplateFacts, TemplateStore } from './store/templates.ts';
import { type Threads, TooMuchMemory } from './threads/pool.ts';

/** What templates need. */
export interface Templates {
  templates: TemplateStore;
  threads: Pick<Threads, 'turn'>;
  now: () => Date;
}

const position = z.tuple([id]);

/** The operations on templates. */
export function templating({ templates, threads, now }: Templates): Route[] {
  return [
    handle(createTemplate, async ({ actor, body }) => {
      const { fields, file } = body;
      const compilation = await threads.turn((run) => run('compile', file.bytes)).catch(refusedIfLarge);
      if (!compilation.ok) {
        const { code, message } = compilation.fault;
        throw TemplateInvalid(message, { extra: { reason: code } });
      }
      const made = { ...fields, original: file.bytes, compiled: compilation.template, at: now() };
      return templates.add(actor, made, shown);
    }),

    handle(listTemplates, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await templates.list(actor, { before, limit: query.limit + 1 });
      return toPage({ found, limit: query.limit, toItem: shown, position: ({ _id }) => [_id] });
    }),

    handle(deleteTemplate, async ({ actor, params }) => {
      const template = await templates.find(actor, params.template_id);
      if (!template) throw NotFound();
      if (!mayDelete(actor, template))
        throw Forbidden('Only who uploaded the template or an admin may delete it.');
      if (!(await templates.remove(actor, template))) throw NotFound();
      return undefined;
    }),
  ];
}

function refusedIfLarge(error: unknown): never {
  if (!(error instanceof TooMuchMemory)) throw error;
  throw TemplateInvalid(`The file cannot be examined with ${error.memoryMb} MB of memory.`, {
    extra: { reason: 'too_large' },
  });
}

function shown(row: TemplateFacts): Template {
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
