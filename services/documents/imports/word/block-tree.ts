/** Adds the paragraphs of a Word file to its HTML tree, as headings, quotes, code, items of lists or paragraphs. */
import type { Element } from 'hast';
import { createHastElement, isHastElement } from '#libs/rich-text';
import type { ListItem } from './word-numbering.ts';
import type { ParagraphKind } from './word-styles.ts';

/** The content of an element: blocks or inline content. */
export type Content = Element['children'];

/**
 * Adds a paragraph to the blocks before it. It joins the last block if that is a list, a quote or code that it
 * continues. Only paragraphs of the kind text can be an `item`. An empty paragraph is left out, unless it is an item of
 * a numbered list or follows a line of code.
 */
export function addParagraph(
  blocks: Content,
  kind: ParagraphKind,
  item: ListItem | undefined,
  content: Content,
): void {
  const continuesCode = kind.kind === 'code' && getLast(blocks, 'pre') !== undefined;
  if (content.length === 0 && !item?.isOrdered && !continuesCode) return;
  if (item) addItem(blocks, item, content);
  else if (kind.kind === 'title') blocks.push(createHastElement('h1', { className: ['title'] }, content));
  else if (kind.kind === 'heading')
    blocks.push(createHastElement(`h${Math.min(6, kind.level)}`, {}, content));
  else if (kind.kind === 'quote') addToLast(blocks, 'blockquote', [createHastElement('p', {}, content)]);
  else if (kind.kind === 'code') addToLast(blocks, 'pre', continuesCode ? [lineFeed, ...content] : content);
  else blocks.push(createHastElement('p', {}, content));
}

function addToLast(blocks: Content, tagName: string, content: Content): void {
  const last = getLast(blocks, tagName);
  if (last) last.children.push(...content);
  else blocks.push(createHastElement(tagName, {}, content));
}

const lineFeed = { type: 'text' as const, value: '\n' };

/** Adds an item at its level. A number that does not continue the last list begins a new one. */
function addItem(blocks: Content, { level, isOrdered, number, numerals }: ListItem, content: Content): void {
  let parent = blocks;
  for (let depth = 0; depth < level; depth += 1) parent = getLastItem(parent);
  const li = createHastElement('li', {}, content);
  const list = getLast(parent, isOrdered ? 'ol' : 'ul');
  const nextNumber = Number(list?.properties.start ?? 1) + (list?.children.length ?? 0);
  if (list && (!isOrdered || nextNumber === number)) {
    list.children.push(li);
    return;
  }
  const start = isOrdered && number !== 1 && { start: number };
  const type = isOrdered && numerals !== '1' && { type: numerals };
  parent.push(createHastElement(isOrdered ? 'ol' : 'ul', { ...start, ...type }, [li]));
}

/** The content of the last item, if the last block is a list. Otherwise a level is skipped and gets an empty item. */
function getLastItem(blocks: Content): Content {
  const item = getLast((getLast(blocks, 'ol') ?? getLast(blocks, 'ul'))?.children ?? [], 'li');
  if (item) return item.children;
  const empty = createHastElement('li');
  blocks.push(createHastElement('ul', {}, [empty]));
  return empty.children;
}

/** The last block, if it has this tag name. */
function getLast(blocks: Content, tagName: string): Element | undefined {
  const last = blocks.at(-1);
  return last && isHastElement(last) && last.tagName === tagName ? last : undefined;
}
