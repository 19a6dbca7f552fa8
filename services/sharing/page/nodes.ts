/** The nodes of a document on its page: numbered headings that can be linked to, each with its rich text. */
import { element, escapeHtml, type Html, html, joinHtml, toHtml } from '#libs/rich-text';
import type { NodeRow } from '../store.ts';
import type { Children } from '../tree.ts';

/** Sections are h2, steps h3, sub-steps h4; headings within their text follow below. */
const topLevel = 2;

/** Each node with its number, in reading order; one piece for each. */
export function* nodes(children: Children, parent: string | null = null, above = ''): Generator<Html> {
  const level = topLevel + (above === '' ? 0 : above.split('.').length);
  for (const [at, row] of (children.get(parent) ?? []).entries()) {
    const number = above === '' ? `${at + 1}` : `${above}.${at + 1}`;
    yield node(row, number, level);
    yield* nodes(children, row._id, number);
  }
}

/** A node can be linked to by its id, which is this version's, and by its number, which is every version's. */
function node({ _id, node_type, title, content }: NodeRow, number: string, level: number): Html {
  const to = escapeHtml(number);
  const heading = element(
    `h${level}`,
    { id: number },
    html`<a class="number" href="#${to}">${to}</a> <span>${escapeHtml(title)}</span>`,
  );
  const text = content === null ? [] : [toHtml(JSON.parse(content), { headingLevel: level + 1 })];
  const body = text.some((one) => one !== '') ? [element('div', { class: 'text' }, joinHtml(text))] : [];
  const kind = node_type.replace('_', '-');
  return joinHtml([
    element('section', { class: kind, id: _id }, joinHtml([heading, ...body], '\n')),
    newLine,
  ]);
}

const newLine = html`
`;
