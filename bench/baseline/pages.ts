/** A page of a document by the least code: the same words in the usual elements, and no care beyond escaping. */
import type { Row } from './handler.ts';
import { childrenOf } from './trees.ts';

interface Part {
  type: string;
  text?: string;
  marks?: { type: string }[];
  content?: Part[];
}

const elements: Record<string, string> = {
  paragraph: 'p',
  bulletList: 'ul',
  listItem: 'li',
  bold: 'strong',
  italic: 'em',
};

/** The whole page. */
export function barePage(document: Row, rows: readonly Row[]): string {
  const families = childrenOf(rows);
  const list = (parent: string | null, level: number): string =>
    (families.get(parent) ?? [])
      .map((row) => {
        const text = row.content ? html(JSON.parse(row.content)) : '';
        return `<section id="${row._id}"><h${level}>${escaped(row.title)}</h${level}>${text}</section>${list(row._id, level + 1)}`;
      })
      .join('');
  const title = escaped(document.title);
  return `<!DOCTYPE html><title>${title}</title><h1>${title}</h1>${list(null, 2)}`;
}

function html({ type, text, marks, content }: Part): string {
  if (text === undefined) return wrapped(elements[type], (content ?? []).map(html).join(''));
  return (marks ?? []).reduce((inner, mark) => wrapped(elements[mark.type], inner), escaped(text));
}

function wrapped(name: string | undefined, inner: string): string {
  return name ? `<${name}>${inner}</${name}>` : inner;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}
