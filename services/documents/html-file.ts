/** Defines what an import recognizes in an HTML file of the export. */

/** The content of the `meta` element `generator`. */
export const htmlGenerator = 'Process Document Service';

/** The `meta` elements of an HTML file about its document; null for what the document does not have. */
export function toHtmlMeta({ version, department }: { version: string | null; department: string | null }) {
  return { generator: htmlGenerator, 'document-version': version, 'document-department': department };
}
