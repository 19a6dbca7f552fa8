/** Renders a document as one HTML file, which contains its style sheets and pictures and never loads anything. */
import { escapeHtml, type Html, html, joinHtml } from '#libs/rich-text';
import { documentPage, type PageInput } from './document-page.ts';
import { pagePolicy } from './policy.ts';
import { getStyleSources } from './styles.ts';

/** The content of a file. */
export interface FileInput extends Omit<PageInput, 'additions'> {
  /** The content of `meta` elements by their names; null omits an element. */
  meta: Readonly<Record<string, string | null>>;
}

/** Renders the file in pieces. The policy is in a `meta` element, because a file has no headers. */
export function* htmlFile({ meta, ...input }: FileInput): Generator<Html> {
  const policy = pagePolicy(getStyleSources(input));
  const { onFile } = input.language.words;
  const additions = {
    meta: joinHtml([
      html`<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}"/>\n`,
      ...Object.entries(meta).map(([name, content]) => metaElement(name, content)),
    ]),
    notes: { onScreen: onFile, onPaper: onFile },
  };
  yield* documentPage({ ...input, additions });
}

function metaElement(name: string, content: string | null): Html {
  if (content === null) return joinHtml([]);
  return html`<meta name="${escapeHtml(name)}" content="${escapeHtml(content)}"/>\n`;
}
