/** Builds the HTML tree of a Word file: its paragraphs become headings, quotes, code, items of lists or paragraphs. */
import type { Element } from 'hast';
import { createHastElement, isHastElement } from '#libs/rich-text';
import type { ListItem } from './word-numbering.ts';
import type { ParagraphKind } from './word-styles.ts';

/** The content of an element: blocks or inline content. */
export type Content = Element['children'];

/**
 * Adds a paragraph to the blocks before it: to their last list, quote or code, if it belongs there. An empty paragraph
 * is left out, unless its list counts it or it is an empty line of code.
 */
export function addParagraph(
  blocks: Content,
  kind: ParagraphKind,
  item: ListItem | undefined,
  content: Content,
): void {
  const isLine = kind.kind === 'code' && getLast(blocks, 'pre');
  if (content.length === 0 && !item?.isOrdered && !isLine) return;
  if (item) addItem(blocks, item, content);
  else if (kind.kind === 'title') blocks.push(createHastElement('h1', { className: ['title'] }, content));
  else if (kind.kind === 'heading')
    blocks.push(createHastElement(`h${Math.min(6, kind.level)}`, {}, content));
  else if (kind.kind === 'quote') addToLast(blocks, 'blockquote', [createHastElement('p', {}, content)]);
  else if (kind.kind === 'code') addLines(blocks, content);
  else blocks.push(createHastElement('p', {}, content));
}

function addToLast(blocks: Content, tagName: string, content: Content): void {
  const last = getLast(blocks, tagName);
  if (last) last.children.push(...content);
  else blocks.push(createHastElement(tagName, {}, content));
}

function addLines(blocks: Content, content: Content): void {
  const lineFeed = { type: 'text' as const, value: '\n' };
  addToLast(blocks, 'pre', getLast(blocks, 'pre') ? [lineFeed, ...content] : content);
}

/** A number that does not continue the list before it begins a new list. */
function addItem(blocks: Content, { level, isOrdered, number, numerals }: ListItem, content: Content): void {
  let parent = blocks;
  for (let depth = 0; depth < level; depth += 1) parent = openItem(parent);
  const item = createHastElement('li', {}, content);
  const list = getLast(parent, isOrdered ? 'ol' : 'ul');
  const next = Number(list?.properties.start ?? 1) + (list?.children.length ?? 0);
  if (list && (!isOrdered || next === number)) {
    list.children.push(item);
    return;
  }
  const start = isOrdered && number !== 1 && { start: number };
  const type = isOrdered && numerals !== '1' && { type: numerals };
  parent.push(createHastElement(isOrdered ? 'ol' : 'ul', { ...start, ...type }, [item]));
}

/** The content of the last item of the last list. If the file skips a level, that level gets an empty item. */
function openItem(blocks: Content): Content {
  const item = getLast((getLast(blocks, 'ol') ?? getLast(blocks, 'ul'))?.children ?? [], 'li');
  if (item) return item.children;
  const empty = createHastElement('li');
  blocks.push(createHastElement('ul', {}, [empty]));
  return empty.children;
}

function getLast(blocks: Content, tagName: string): Element | undefined {
  const last = blocks.at(-1);
  return last && isHastElement(last) && last.tagName === tagName ? last : undefined;
}
