/** Renders rich text as safe HTML; emits only elements and attributes named here or in html-inline.ts. */
import { getInteger, getString } from './attributes.ts';
import { getCallout } from './callout.ts';
import { inlineHtml } from './html-inline.ts';
import { type Attributes, element, escapeHtml, type Html, joinHtml } from './markup.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

const alignments = new Set(['left', 'center', 'right', 'justify']);
const numerals = new Set(['1', 'a', 'A', 'i', 'I']);

/**
 * Renders the content without styles and scripts. The classes are `align-…`, `language-…`, `task-list`,
 * `task-item`, `callout`, `callout-<kind>`, `callout-label`,
 * `color-<name>` and `table` (the scrollable wrapper of a table). The top heading level becomes `h5`, or
 * `h<headingLevel>`; lower levels follow down to `h6`. Remote images become links.
 */
export function toHtml(content: RichText, { headingLevel = 5 }: { headingLevel?: number } = {}): Html {
  const root = toWellFormed(content);
  return blocks(root, headingLevel - findTopLevel(root));
}

/** The top heading level in use; content that starts at level 2 must not skip a level in the page. */
function findTopLevel(node: RichText): number {
  if (node.type === 'heading') return getLevel(node);
  let top = 6;
  for (const child of node.content ?? []) top = Math.min(top, findTopLevel(child));
  return top;
}

function getLevel(heading: RichText): number {
  return getInteger(heading, 'level', 1, 6) ?? 1;
}

/** Renders the children of a node; `shift` is added to the level of each heading. */
function blocks(parent: RichText, shift: number): Html {
  return joinHtml(
    (parent.content ?? []).map((node) => block(node, shift)),
    '\n',
  );
}

function block(node: RichText, shift: number): Html {
  switch (node.type) {
    case 'heading': {
      const level = Math.trunc(shift + getLevel(node));
      return textblock(`h${Math.min(6, Math.max(1, level))}`, node);
    }
    case 'codeBlock':
      return code(node);
    case 'blockquote':
      return element('blockquote', {}, blocks(node, shift));
    case 'callout':
      return callout(node, shift);
    case 'horizontalRule':
      return element('hr', {});
    case 'table':
      return table(node, shift);
    case 'bulletList':
    case 'taskList':
    case 'orderedList':
      return list(node, shift);
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

/** The label is text, so that the kind does not depend on colours; the style sheet adds the symbol. */
function callout(node: RichText, shift: number): Html {
  const { kind, signalWord } = getCallout(node);
  const label = element('p', { class: 'callout-label' }, escapeHtml(signalWord));
  return element('aside', { class: `callout callout-${kind}` }, joinHtml([label, blocks(node, shift)], '\n'));
}

function code(node: RichText): Html {
  const language = getString(node, 'language');
  const className = /^[A-Za-z0-9+#._-]{1,40}$/.test(language) ? `language-${language}` : undefined;
  const text = (node.content ?? []).map(toText).join('');
  return element('pre', {}, element('code', { class: className }, escapeHtml(text)));
}

function list(node: RichText, shift: number): Html {
  const inner = joinHtml(
    (node.content ?? []).map((item) => listItem(item, shift)),
    '\n',
  );
  if (node.type === 'taskList') return element('ul', { class: 'task-list' }, inner);
  if (node.type === 'bulletList') return element('ul', {}, inner);
  const type = getString(node, 'type');
  const start = getInteger(node, 'start', 0, 999_999_999);
  const attributes = { start: start === 1 ? undefined : start, type: numerals.has(type) ? type : undefined };
  return element('ol', attributes, inner);
}

function listItem(item: RichText, shift: number): Html {
  const inner = blocks(item, shift);
  if (item.type !== 'taskItem') return element('li', {}, inner);
  const checked = item.attrs?.checked === true ? '' : undefined;
  const box = element('input', { type: 'checkbox', disabled: '', checked, 'aria-label': 'Done' });
  return element('li', { class: 'task-item' }, joinHtml([box, element('div', {}, inner)]));
}

/**
 * Leading rows of only header cells become the `thead`; a header cell in a later row is a row header. A table
 * may be wider than the page, so its wrapper scrolls and can be focused by keyboard.
 */
function table(node: RichText, shift: number): Html {
  const rows = node.content ?? [];
  const body = rows.findIndex((row) => row.content?.some((cell) => cell.type !== 'tableHeader'));
  const split = body === -1 ? rows.length : body;
  const part = (name: string, scope: string, some: RichText[]): Html[] => {
    if (some.length === 0) return [];
    const inner = some.map((row) => tableRow(row, scope, shift));
    return [element(name, {}, joinHtml(inner, '\n'))];
  };
  const parts = [...part('thead', 'col', rows.slice(0, split)), ...part('tbody', 'row', rows.slice(split))];
  const box = { class: 'table', tabindex: 0, role: 'group', 'aria-label': 'Table' };
  return element('div', box, element('table', {}, joinHtml(parts)));
}

function tableRow(row: RichText, scope: string, shift: number): Html {
  const inner = (row.content ?? []).map((cell) => {
    const isHeader = cell.type === 'tableHeader';
    const spans: Attributes = {
      colspan: getInteger(cell, 'colspan', 2, 1000),
      rowspan: getInteger(cell, 'rowspan', 2, 1000),
      scope: isHeader ? scope : undefined,
    };
    return element(isHeader ? 'th' : 'td', spans, blocks(cell, shift));
  });
  return element('tr', {}, joinHtml(inner));
}
