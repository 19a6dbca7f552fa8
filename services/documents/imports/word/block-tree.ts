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
 * Adds a paragraph to the blocks before it. A quote or code continues the last block, an item the list before it. A
 * text that begins with a checkbox becomes a task. An empty paragraph is left out, unless it is an item of a numbered
 * list, or a line of code after another one.
 */
export function addParagraph(blocks: Content, { kind, item, indent }: ParagraphPlace, all: Content): void {
  const continuesCode = kind.kind === 'code' && getLast(blocks, 'pre') !== undefined;
  if (all.length === 0 && !item?.isOrdered && !continuesCode) return;
  const mark = kind.kind === 'text' ? findMark(all) : undefined;
  const content = all.map((child) => (isCheckbox(child) && child !== mark ? toCharacter(child) : child));
  if (item) addItem(blocks, item, createIndented('li', indent, content));
  else if (mark) addTask(blocks, indent ?? 0, createIndented('li', indent ?? 0, content));
  else if (kind.kind === 'title') blocks.push(createHastElement('h1', { className: ['title'] }, content));
  else if (kind.kind === 'heading')
    blocks.push(createHastElement(`h${Math.min(6, kind.level)}`, {}, content));
  else if (kind.kind === 'quote')
    addToLast(blocks, createIndented('blockquote', indent, [createHastElement('p', {}, content)]));
  else if (kind.kind === 'code')
    addToLast(blocks, createIndented('pre', indent, continuesCode ? [lineFeed, ...content] : content));
  else blocks.push(createIndented('p', indent, content));
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

/** Adds a quote or code, or its content to the last block if that is of the same kind. */
function addToLast(blocks: Content, element: Element): void {
  const last = getLast(blocks, element.tagName);
  if (last) last.children.push(...element.children);
  else blocks.push(element);
}

const lineFeed = { type: 'text' as const, value: '\n' };

/**
 * Creates an element that keeps its indent: the indent tells the item of a list to which a block belongs, and is the
 * only mark of the level of a task.
 */
export function createIndented(tagName: string, indent: number | undefined, content: Content): Element {
  return createHastElement(tagName, indent === undefined ? {} : { dataIndent: indent }, content);
}

/** Adds an item below the last one of a higher level. If it does not continue the list there, it begins a new one. */
function addItem(blocks: Content, item: ListItem, li: Element): void {
  const { level, isOrdered, number, numerals } = item;
  moveBlocks(blocks, item);
  const { parent, last } = findPlace(blocks, level);
  const tagName = isOrdered ? 'ol' : 'ul';
  if (last?.level === level && last.list.tagName === tagName) {
    const { properties, children } = last.list;
    const next = Number(properties.start ?? 1) + children.length;
    if (!isOrdered || (number === next && numerals === (properties.type ?? '1'))) {
      children.push(li);
      return;
    }
  }
  const start = isOrdered && number !== 1 && { start: number };
  const type = isOrdered && numerals !== '1' && { type: numerals };
  parent.push(createHastElement(tagName, { ...start, ...type, dataLevel: level, dataList: item.list }, [li]));
}

/**
 * Moves the blocks after a list into its last items, before the next item of the same list or one below it. If each
 * block is indented with an item, it belongs to that item. Otherwise all of them belong to the last item of a numbered
 * list if the next item of the same list is below that one.
 */
function moveBlocks(blocks: Content, item: ListItem): void {
  const { list, level } = item;
  const at = blocks.findLastIndex(
    (block) => isHastElement(block) && /^(?:[ou]l|h[1-6])$/.test(block.tagName),
  );
  const block = blocks[at];
  if (at === blocks.length - 1 || !block || !isHastElement(block) || !/^[ou]l$/.test(block.tagName)) return;
  const between = blocks.splice(at + 1);
  if (moveIndented(between, blocks, item)) return;
  if (level === 0 || block.tagName === 'ul') {
    for (const each of between) blocks.push(each);
    return;
  }
  const { parent, above, last } = findPlace(blocks, level);
  const to = above && (last ?? above).list.properties.dataList === list ? parent : blocks;
  for (const each of between) to.push(each);
}

/**
 * Moves blocks to the items with which they are indented. Returns false without a move if one is not, or if the next
 * item is neither of the same list nor below it.
 */
function moveIndented(between: Content, blocks: Content, { list, level }: ListItem): boolean {
  const lasts: LastList[] = [];
  for (let last = findLastList(blocks); last; last = findLastList(last.item.children)) lasts.push(last);
  const isBelow = lasts[0] !== undefined && lasts[0].level < level;
  if (!isBelow && !lasts.some((last) => last.list.properties.dataList === list)) return false;
  const moves: [Element, Content[number]][] = [];
  for (const block of between) {
    const indent = isHastElement(block) ? Number(block.properties.dataIndent ?? 0) : 0;
    // without an indent of the item, any indent of the text shows that it belongs to it
    const isIndented = ({ item }: LastList) =>
      indent > 0 && indent >= Number(item.properties.dataIndent ?? 0);
    // the order stays: a text of a higher item ends those below it
    lasts.length = lasts.findLastIndex(isIndented) + 1;
    const item = lasts.at(-1)?.item;
    if (!item) return false;
    moves.push([item, block]);
  }
  for (const [item, block] of moves) item.children.push(block);
  return true;
}

/** Where an item of this level belongs: in the last item of the list `above`, after or in the list `last`. */
function findPlace(blocks: Content, level: number) {
  let parent = blocks;
  let above: LastList | undefined;
  let last = findLastList(parent);
  while (last && last.level < level) {
    above = last;
    parent = last.item.children;
    last = findLastList(parent);
  }
  return { parent, above, last };
}

/** Adds a task below the last item whose indent is smaller, at most as deep as other items. */
function addTask(blocks: Content, indent: number, li: Element): void {
  let parent = blocks;
  let last = findLastList(parent);
  let level = 0;
  for (let depth = 0; last && depth < maxLevel; depth += 1) {
    if (indent <= Number(last.item.properties.dataIndent ?? indent)) break;
    level = last.level + 1;
    parent = last.item.children;
    last = findLastList(parent);
  }
  if (last?.list.tagName === 'ul') last.list.children.push(li);
  else parent.push(createHastElement('ul', { dataLevel: level }, [li]));
}

/** A list with its last item. A list keeps its level, because it can begin on any. */
interface LastList {
  list: Element;
  item: Element;
  level: number;
}

/** The last block, if it is a list. */
function findLastList(blocks: Content): LastList | undefined {
  const list = getLast(blocks, 'ol') ?? getLast(blocks, 'ul');
  const item = list && getLast(list.children, 'li');
  return item && { list, item, level: Number(list.properties.dataLevel) };
}

/** The last block, if it has this tag name. */
function getLast(blocks: Content, tagName: string): Element | undefined {
  const last = blocks.at(-1);
  return last && isHastElement(last) && last.tagName === tagName ? last : undefined;
}
