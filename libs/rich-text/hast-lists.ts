/** Reads the items of HTML lists, and the checkboxes of task lists. */
import type { Element } from 'hast';
import { type HastNode, hasClass, isHastElement, isListElement } from './hast-elements.ts';
import { maxListStart } from './list-start.ts';
import type { RichText } from './tree.ts';

/** Consecutive items of one list that all have a checkbox, or none. An item is a list of nodes. */
interface ItemGroup {
  isTask: boolean;
  /** The number of the first item. */
  start: number;
  items: HastNode[][];
}

/** Groups the items of a list by checkboxes and numbers. Anything between items belongs to the item before it. */
export function groupItems({ tagName, properties, children }: Element): ItemGroup[] {
  const items: { value: number | undefined; nodes: HastNode[] }[] = [];
  for (const child of children) {
    const last = items.at(-1);
    if (isHastElement(child) && child.tagName === 'li')
      items.push({ value: readNumber(child.properties.value), nodes: [...child.children] });
    else if (isBlank(child)) continue;
    else if (isHastElement(child) && isListElement(child) && last) last.nodes.push(child);
    else items.push({ value: undefined, nodes: [child] });
  }
  const groups: ItemGroup[] = [];
  let next = readNumber(properties.start) ?? 1;
  for (const { value, nodes } of items) {
    const isTask = findTaskMark(nodes) !== undefined;
    const last = groups.at(-1);
    const at = (tagName === 'ol' ? value : undefined) ?? next;
    if (last?.isTask === isTask && at === next) last.items.push(nodes);
    else groups.push({ isTask, start: at, items: [nodes] });
    next = Math.min(maxListStart, at + 1);
  }
  return groups;
}

/** Returns undefined for a number that a list cannot have. */
function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value ?? Number.NaN);
  return Number.isInteger(number) && number >= 0 && number <= maxListStart ? number : undefined;
}

/** The checkbox at the beginning of an item, and the item without it. Undefined if there is none. */
export function findTaskMark(
  nodes: readonly HastNode[],
): { checked: boolean; rest: readonly HastNode[] } | undefined {
  const at = nodes.findIndex((node) => !isBlank(node));
  const first = nodes[at];
  if (!first || !isHastElement(first)) return undefined;
  if (isMark(first)) return { checked: isChecked(first), rest: nodes.slice(at + 1) };
  if (!/^(p|label|span|div)$/.test(first.tagName)) return undefined;
  const inner = findTaskMark(first.children);
  if (!inner) return undefined;
  // only elements and texts of an element are its children
  const children = inner.rest as Element['children'];
  return { checked: inner.checked, rest: [{ ...first, children }, ...nodes.slice(at + 1)] };
}

/** An item of a list begins with a paragraph, which editors require. */
export function withFirstParagraph(blocks: RichText[]): RichText[] {
  return blocks[0]?.type === 'paragraph' ? blocks : [{ type: 'paragraph' }, ...blocks];
}

function isMark(element: Element): boolean {
  if (hasClass(element, 'task-mark')) return true;
  return element.tagName === 'input' && String(element.properties.type).toLowerCase() === 'checkbox';
}

function isChecked(mark: Element): boolean {
  return hasClass(mark, 'done') || (mark.properties.checked ?? false) !== false;
}

function isBlank(node: HastNode): boolean {
  return node.type === 'text' ? node.value.trim() === '' : node.type !== 'element';
}
