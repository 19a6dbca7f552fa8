/** Word exports: a document rendered into a template of the organization, or into the built-in one. */
import { NotFound } from '#libs/contract';
import { type Handled, handle } from '#libs/http';
import type { Acting } from '#libs/store';
import { attachment } from './attachment.ts';
import { builtIn, exportWord, wordType } from './contract.ts';
import type { ExportDocument } from './formats/document.ts';
import type { CompiledTemplate } from './formats/template.ts';
import type { ReadDocument } from './store/documents.ts';
import type { TemplateStore, UsableTemplate } from './store/templates.ts';

/** What Word exports need. */
export interface Word {
  read: ReadDocument;
  templates: TemplateStore;
  /** Makes the built-in template; asked for once. */
  defaultTemplate: () => Promise<CompiledTemplate>;
  render: (
    document: ExportDocument,
    template: CompiledTemplate,
    options: { indentInches: number },
  ) => Promise<Uint8Array>;
}

/** Indentation of the built-in template, inches. */
const standardIndent = 0.5;

/** The operation that exports to Word. */
export function wordExports({ read, templates, defaultTemplate, render }: Word): Handled[] {
  let standard: Promise<CompiledTemplate> | undefined;

  return [
    handle(exportWord, async ({ actor, params, query }) => {
      const [document, template] = await Promise.all([
        read(actor, params.doc_id),
        templateFor(actor, query.template_id),
      ]);
      if (!document) throw NotFound();
      if (!template) throw NotFound('There is no template with this id; `default` is always there.');
      const bytes = await render(document, template.compiled, { indentInches: template.indentInches });
      return attachment(wordType, bytes, document.title, 'docx');
    }),
  ];

  async function templateFor(actor: Acting, id: string): Promise<UsableTemplate | undefined> {
    if (id !== builtIn) return templates.usable(actor, id);
    standard ??= defaultTemplate();
    return { compiled: await standard, indentInches: standardIndent };
  }
}
