/** Renders rich text as safe HTML; emits only elements and attributes named here or in html-inline.ts. */
import { getInteger, getString } from './attributes.ts';
import { getCallout } from './callout.ts';
import { type Direction, findDirection } from './direction.ts';
import { findTopLevel, getLevel } from './headings.ts';
import { type FindPicture, inlineHtml } from './html-inline.ts';
import { tableHtml } from './html-table.ts';
import { getNumbersClass } from './list-numbers.ts';
import { maxListStart } from './list-start.ts';
import { element, escapeHtml, type Html, joinHtml } from './markup.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

const alignments = new Set(['left', 'center', 'right', 'justify']);
const numerals = new Set(['1', 'a', 'A', 'i', 'I']);

/** The words that only screen readers announce. */
export interface HtmlWords {
  done: string;
  notDone: string;
  table: string;
}

const english: HtmlWords = { done: 'Done', notDone: 'Not done', table: 'Table' };

/**
 * Renders the content without styles and scripts. The classes are `align-…`, `language-…`, `task-list`,
 * `task-item`, `task-mark`, `done`, `numbers-<em>` (a list whose numbers are wider than two digits), `callout`,
 * `callout-<kind>`, `callout-label`, `color-<name>` and those of tables: `table` (the scrollable wrapper), `short` and
 * `long` (cells with a word or a sentence) and `continued` (a row whose first column is a cell from above). The top
 * heading level becomes `h5`, or `h<headingLevel>`; lower levels follow down to `h6`. `direction` is that of the page;
 * if it is from right to left, text without letters has `dir="rtl"`. Remote images become links. `findPicture` returns
 * what shows an image that is not embedded; without it, and if it returns nothing, an asset becomes its text.
 */
export function toHtml(
  content: RichText,
  { headingLevel = 5, words = english, direction = 'ltr', findPicture = findNoPicture }: HtmlOptions = {},
): Html {
  const root = toWellFormed(content);
  return blocks(root, { shift: headingLevel - findTopLevel(root), words, direction, findPicture });
}

/** The options of `toHtml`. */
export interface HtmlOptions {
  headingLevel?: number;
  words?: HtmlWords;
  direction?: Direction;
  findPicture?: FindPicture;
}

const findNoPicture: FindPicture = () => undefined;

interface Context {
  shift: number;
  words: HtmlWords;
  direction: Direction;
  findPicture: FindPicture;
}

/** Renders the children of a node; `context.shift` is added to the level of each heading. */
function blocks(parent: RichText, context: Context): Html {
  return joinHtml(
    (parent.content ?? []).map((node) => block(node, context)),
    '\n',
  );
}

function block(node: RichText, context: Context): Html {
  switch (node.type) {
    case 'heading': {
      const level = Math.trunc(context.shift + getLevel(node));
      return textblock(`h${Math.min(6, Math.max(1, level))}`, node, context);
    }
    case 'codeBlock':
      return code(node);
    case 'blockquote':
      return element('blockquote', {}, blocks(node, context));
    case 'callout':
      return callout(node, context);
    case 'horizontalRule':
      return element('hr', {});
    case 'table':
      return tableHtml(node, context.words.table, (cell) => blocks(cell, context));
    case 'bulletList':
    case 'taskList':
    case 'orderedList':
      return list(node, context);
    default:
      return textblock('p', node, context);
  }
}

function textblock(name: string, node: RichText, { direction, findPicture }: Context): Html {
  const align = getString(node, 'textAlign');
  const isRtl = direction === 'rtl' && findDirection(node) === undefined;
  return element(
    name,
    { class: alignments.has(align) ? `align-${align}` : undefined, dir: isRtl ? 'rtl' : undefined },
    inlineHtml(node.content ?? [], findPicture),
  );
}

/** The label is text, so that the kind does not depend on colours; the style sheet adds the symbol. */
function callout(node: RichText, context: Context): Html {
  const { kind, signalWord } = getCallout(node);
  const label = element('p', { class: 'callout-label' }, escapeHtml(signalWord));
  return element(
    'aside',
    { class: `callout callout-${kind}` },
    joinHtml([label, blocks(node, context)], '\n'),
  );
}

function code(node: RichText): Html {
  const language = getString(node, 'language');
  const className = /^[A-Za-z0-9+#._-]{1,40}$/.test(language) ? `language-${language}` : undefined;
  const text = (node.content ?? []).map(toText).join('');
  return element('pre', {}, element('code', { class: className }, escapeHtml(text)));
}

function list(node: RichText, context: Context): Html {
  const inner = joinHtml(
    (node.content ?? []).map((item) => listItem(item, context)),
    '\n',
  );
  if (node.type === 'taskList') return element('ul', { class: 'task-list' }, inner);
  if (node.type === 'bulletList') return element('ul', {}, inner);
  const name = getString(node, 'type');
  const type = numerals.has(name) ? name : undefined;
  const start = getInteger(node, 'start', 0, maxListStart);
  const numbers = { start: start ?? 1, count: node.content?.length ?? 0, type };
  return element(
    'ol',
    { start: start === 1 ? undefined : start, type, class: getNumbersClass(numbers) },
    inner,
  );
}

function listItem(item: RichText, context: Context): Html {
  const inner = blocks(item, context);
  if (item.type !== 'taskItem') return element('li', {}, inner);
  const mark = taskMark(item.attrs?.checked === true, context.words);
  return element('li', { class: 'task-item' }, joinHtml([mark, element('div', {}, inner)]));
}

/** The place of a printed mark: an input, even a disabled one, would look as if readers could tick it. */
function taskMark(isDone: boolean, { done, notDone }: HtmlWords): Html {
  const name = { role: 'img', 'aria-label': isDone ? done : notDone };
  return element('span', { class: isDone ? 'task-mark done' : 'task-mark', ...name }, joinHtml([]));
}
