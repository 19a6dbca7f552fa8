/** Shows rich text as HTML that is safe by construction: only the elements and attributes named here and in html-inline.ts exist. */
import { getInteger, getString } from './attributes.ts';
import { inlineHtml } from './html-inline.ts';
import { type Attributes, element, escapeHtml, type Html, joinHtml } from './markup.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

const alignments = new Set(['left', 'center', 'right', 'justify']);
const numerals = new Set(['1', 'a', 'A', 'i', 'I']);

/**
 * The content as sanitised HTML without styles or scripts; classes are `align-…`, `language-…`, `task-list`, `task-item` and
 * `table` (around each table, to scroll in). The highest headings in it become `h5`, or `h<headingLevel>`, deeper ones follow down
 * to `h6`. Remote images become links.
 */
export function toHtml(content: RichText, { headingLevel = 5 }: { headingLevel?: number } = {}): Html {
  const whole = toWellFormed(content);
  return blocks(whole, headingLevel - findTopLevel(whole));
}

/** The level of the highest headings, so that a text which begins at level 2 leaves no level out below its page. */
function findTopLevel(node: RichText): number {
  if (node.type === 'heading') return getLevel(node);
  let highest = 6;
  for (const child of node.content ?? []) highest = Math.min(highest, findTopLevel(child));
  return highest;
}

function getLevel(heading: RichText): number {
  return getInteger(heading, 'level', 1, 6) ?? 1;
}

/** The children of a node; headings are `below` levels further down than they say. */
function blocks(parent: RichText, below: number): Html {
  return joinHtml(
    (parent.content ?? []).map((node) => block(node, below)),
    '\n',
  );
}

function block(node: RichText, below: number): Html {
  switch (node.type) {
    case 'heading': {
      const level = Math.trunc(below + getLevel(node));
      return textblock(`h${Math.min(6, Math.max(1, level))}`, node);
    }
    case 'codeBlock':
      return code(node);
    case 'blockquote':
      return element('blockquote', {}, blocks(node, below));
    case 'horizontalRule':
      return element('hr', {});
    case 'table':
      return table(node, below);
    case 'bulletList':
    case 'taskList':
    case 'orderedList':
      return list(node, below);
    default:
      return textblock('p', node);
  }
}

function textblock(name: string, node: RichText): Html {
  const align = getString(node, 'textAlign');
  return element(
    name,
    { class: alignments.has(align) ? `align-${align}` : undefined },
    inlineHtml(node.content ?? []),
  );
}

function code(node: RichText): Html {
  const language = getString(node, 'language');
  const known = /^[A-Za-z0-9+#._-]{1,40}$/.test(language) ? `language-${language}` : undefined;
  const text = (node.content ?? []).map(toText).join('');
  return element('pre', {}, element('code', { class: known }, escapeHtml(text)));
}

function list(node: RichText, below: number): Html {
  const inner = joinHtml(
    (node.content ?? []).map((item) => listItem(item, below)),
    '\n',
  );
  if (node.type === 'taskList') return element('ul', { class: 'task-list' }, inner);
  if (node.type === 'bulletList') return element('ul', {}, inner);
  const type = getString(node, 'type');
  const start = getInteger(node, 'start', 0, 999_999_999);
  const attributes = { start: start === 1 ? undefined : start, type: numerals.has(type) ? type : undefined };
  return element('ol', attributes, inner);
}

function listItem(item: RichText, below: number): Html {
  const inner = blocks(item, below);
  if (item.type !== 'taskItem') return element('li', {}, inner);
  const checked = item.attrs?.checked === true ? '' : undefined;
  const box = element('input', { type: 'checkbox', disabled: '', checked, 'aria-label': 'Done' });
  return element('li', { class: 'task-item' }, joinHtml([box, element('div', {}, inner)]));
}

/**
 * The first rows of header cells only are the head; a header cell further down is its row's. A table may be wider than the page,
 * so it stands in a box that scrolls, also by keyboard.
 */
function table(node: RichText, below: number): Html {
  const rows = node.content ?? [];
  const body = rows.findIndex((row) => row.content?.some((cell) => cell.type !== 'tableHeader'));
  const split = body === -1 ? rows.length : body;
  const part = (name: string, scope: string, some: RichText[]): Html[] => {
    if (some.length === 0) return [];
    const inner = some.map((row) => tableRow(row, scope, below));
    return [element(name, {}, joinHtml(inner, '\n'))];
  };
  const parts = [...part('thead', 'col', rows.slice(0, split)), ...part('tbody', 'row', rows.slice(split))];
  const box = { class: 'table', tabindex: 0, role: 'group', 'aria-label': 'Table' };
  return element('div', box, element('table', {}, joinHtml(parts)));
}

function tableRow(row: RichText, scope: string, below: number): Html {
  const inner = (row.content ?? []).map((cell) => {
    const isHeader = cell.type === 'tableHeader';
    const spans: Attributes = {
      colspan: getInteger(cell, 'colspan', 2, 1000),
      rowspan: getInteger(cell, 'rowspan', 2, 1000),
      scope: isHeader ? scope : undefined,
    };
    return element(isHeader ? 'th' : 'td', spans, blocks(cell, below));
  });
  return element('tr', {}, joinHtml(inner));
}
