/** Adds the paragraphs of a Word file to its HTML tree, as headings, quotes, code, items of lists or paragraphs. */
import type { Element } from 'hast';
import { createHastElement, isHastElement } from '#libs/rich-text';
import { type ListItem, maxLevel } from './word-numbering.ts';
import type { ParagraphKind } from './word-styles.ts';

/** The content of an element: blocks or inline content. */
export type Content = Element['children'];

/** Where a paragraph belongs. Only one of the kind text can be an `item`. */
export interface ParagraphPlace {
  kind: ParagraphKind;
  item: ListItem | undefined;
  /** The left edge in twips; undefined if the paragraph does not set it. */
  indent: number | undefined;
}

/**
 * Adds a paragraph to the blocks before it. It joins the last block if that is a list, a quote or code that it
 * continues. A text that begins with a checkbox is an item of a list, too. An empty paragraph is left out, unless it is
 * an item of a numbered list or follows a line of code.
 */
export function addParagraph(blocks: Content, { kind, item, indent }: ParagraphPlace, all: Content): void {
  const continuesCode = kind.kind === 'code' && getLast(blocks, 'pre') !== undefined;
  if (all.length === 0 && !item?.isOrdered && !continuesCode) return;
  const mark = kind.kind === 'text' ? findMark(all) : undefined;
  const content = all.map((child) => (isCheckbox(child) && child !== mark ? toCharacter(child) : child));
  if (item) addItem(blocks, item, createItem(indent, content));
  else if (mark) addTask(blocks, indent ?? 0, createItem(indent ?? 0, content));
  else if (kind.kind === 'title') blocks.push(createHastElement('h1', { className: ['title'] }, content));
  else if (kind.kind === 'heading')
    blocks.push(createHastElement(`h${Math.min(6, kind.level)}`, {}, content));
  else if (kind.kind === 'quote') addToLast(blocks, 'blockquote', [createHastElement('p', {}, content)]);
  else if (kind.kind === 'code') addToLast(blocks, 'pre', continuesCode ? [lineFeed, ...content] : content);
  else blocks.push(createHastElement('p', {}, content));
}

/** The checkbox with which a text begins. */
function findMark(content: Content): Element | undefined {
  const first = content.find((child) => child.type !== 'text' || child.value.trim() !== '');
  return first && isCheckbox(first) ? first : undefined;
}

function isCheckbox(child: Content[number]): child is Element {
  return isHastElement(child) && child.tagName === 'input';
}

/** The character that Word shows for a checkbox. */
function toCharacter({ properties }: Element): Content[number] {
  return { type: 'text', value: properties.checked ? '☒' : '☐' };
}

function addToLast(blocks: Content, tagName: string, content: Content): void {
  const last = getLast(blocks, tagName);
  if (last) last.children.push(...content);
  else blocks.push(createHastElement(tagName, {}, content));
}

const lineFeed = { type: 'text' as const, value: '\n' };

/** An item keeps its indent, because that is the only mark of the level of a task. */
function createItem(indent: number | undefined, content: Content): Element {
  return createHastElement('li', indent === undefined ? {} : { dataIndent: indent }, content);
}

/** Adds an item at its level. A number that does not continue the last list begins a new one. */
function addItem(blocks: Content, { level, isOrdered, number, numerals }: ListItem, li: Element): void {
  let parent = blocks;
  for (let depth = 0; depth < level; depth += 1) parent = getLastItem(parent);
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

/** Adds a task below the last item whose indent is smaller, at most as deep as other items. */
function addTask(blocks: Content, indent: number, li: Element): void {
  let parent = blocks;
  for (let depth = 0; depth < maxLevel; depth += 1) {
    const item = findLastItem(parent);
    if (!item || indent <= Number(item.properties.dataIndent ?? indent)) break;
    parent = item.children;
  }
  addToLast(parent, 'ul', [li]);
}

/** The content of the last item, if the last block is a list. Otherwise a level is skipped and gets an empty item. */
function getLastItem(blocks: Content): Content {
  const item = findLastItem(blocks);
  if (item) return item.children;
  const empty = createHastElement('li');
  blocks.push(createHastElement('ul', {}, [empty]));
  return empty.children;
}

/** The last item of the last block, if that is a list. */
function findLastItem(blocks: Content): Element | undefined {
  return getLast((getLast(blocks, 'ol') ?? getLast(blocks, 'ul'))?.children ?? [], 'li');
}

/** The last block, if it has this tag name. */
function getLast(blocks: Content, tagName: string): Element | undefined {
  const last = blocks.at(-1);
  return last && isHastElement(last) && last.tagName === tagName ? last : undefined;
}
