/** Markdown exports: a document as plain paragraphs and lists under its headings. */
import { NotFound } from '#libs/contract';
import { type Handled, handle } from '#libs/http';
import { attachment } from './attachment.ts';
import { exportMarkdown, markdownType } from './contract.ts';
import type { ExportDocument } from './formats/document.ts';
import type { ReadDocument } from './store/documents.ts';

/** What Markdown exports need. */
export interface Markdown {
  read: ReadDocument;
  render: (document: ExportDocument) => string;
}

/** The operation that exports to Markdown. */
export function markdownExports({ read, render }: Markdown): Handled[] {
  return [
    handle(exportMarkdown, async ({ actor, params }) => {
      const document = await read(actor, params.doc_id);
      if (!document) throw NotFound();
      return attachment(markdownType, render(document), document.title, 'md');
    }),
  ];
}
