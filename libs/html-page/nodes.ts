/** Renders the nodes of a document: numbered headings with anchors, each followed by its rich text. */
import {
  type Direction,
  element,
  escapeHtml,
  type FindPicture,
  getFirstDirection,
  type Html,
  html,
  joinHtml,
  toHtml,
} from '#libs/rich-text';
import type { PageNode, PageNodes } from './page-document.ts';
import type { PageWords } from './words.ts';

/** The heading level of sections. Steps are h3, sub-steps h4; headings in their rich text are lower still. */
const topLevel = 2;

/** What the rich text of all nodes is rendered with. */
export interface NodeOptions {
  words: PageWords;
  /** The direction of text without letters. */
  direction: Direction;
  findPicture: FindPicture;
}

/** Returns the direction of the first title with letters, which is that of the article. */
export function findNodesDirection(children: PageNodes): Direction {
  return getFirstDirection(listTitles(children, null));
}

function* listTitles(children: PageNodes, parent: string | null): Generator<string> {
  for (const { _id, title } of children.get(parent) ?? []) {
    yield title;
    yield* listTitles(children, _id);
  }
}

/** Renders each node with its number in reading order, one piece per node. */
export function* nodes(
  children: PageNodes,
  options: NodeOptions,
  parent: string | null = null,
  above = '',
): Generator<Html> {
  const level = topLevel + (above === '' ? 0 : above.split('.').length);
  for (const [at, row] of (children.get(parent) ?? []).entries()) {
    const number = above === '' ? `${at + 1}` : `${above}.${at + 1}`;
    yield node(row, number, level, options);
    yield* nodes(children, options, row._id, number);
  }
}

/** Adds two anchors: the node's id, which only this version has, and its number, which every version has. */
function node(
  { _id, node_type, title, content }: PageNode,
  number: string,
  level: number,
  options: NodeOptions,
): Html {
  const to = escapeHtml(number);
  const heading = element(
    `h${level}`,
    { id: number },
    html`<a class="number" href="#${to}">${to}</a> <span>${escapeHtml(title)}</span>`,
  );
  const text = content === null ? [] : [toHtml(JSON.parse(content), { headingLevel: level + 1, ...options })];
  const body = text.some((one) => one !== '') ? [element('div', { class: 'text' }, joinHtml(text))] : [];
  const kind = node_type.replace('_', '-');
  return joinHtml([
    element('section', { class: kind, id: _id }, joinHtml([heading, ...body], '\n')),
    newLine,
  ]);
}

const newLine = html`
`;
