/**
 * Renders a document as a minimal HTML page: the same words in the usual elements, with escaped text only.
 */
import type { Row } from './handler.ts';
import { groupByParent } from './trees.ts';

interface RichTextNode {
  type: string;
  text?: string;
  marks?: { type: string }[];
  content?: RichTextNode[];
}

const elements: Record<string, string> = {
  paragraph: 'p',
  bulletList: 'ul',
  listItem: 'li',
  bold: 'strong',
  italic: 'em',
};

/** Renders the page. */
export function renderPage(document: Row, rows: readonly Row[]): string {
  const children = groupByParent(rows);
  const list = (parent: string | null, level: number): string =>
    (children.get(parent) ?? [])
      .map((row) => {
        const text = row.content ? html(JSON.parse(row.content)) : '';
        return `<section id="${row._id}"><h${level}>${escapeHtml(row.title)}</h${level}>${text}</section>${list(row._id, level + 1)}`;
      })
      .join('');
  const title = escapeHtml(document.title);
  return `<!DOCTYPE html><title>${title}</title><h1>${title}</h1>${list(null, 2)}`;
}

function html({ type, text, marks, content }: RichTextNode): string {
  if (text === undefined) return wrap(elements[type], (content ?? []).map(html).join(''));
  return (marks ?? []).reduce((inner, mark) => wrap(elements[mark.type], inner), escapeHtml(text));
}

function wrap(name: string | undefined, inner: string): string {
  return name ? `<${name}>${inner}</${name}>` : inner;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}
