/** Reads the items of HTML lists, and the checkboxes of task lists. */
import type { Element } from 'hast';
import { type HastNode, hasClass, isHastElement, isListElement } from './hast-elements.ts';
import type { RichText } from './tree.ts';

/** Consecutive items of one list that all have a checkbox, or none. An item is a list of nodes. */
interface ItemGroup {
  isTask: boolean;
  items: HastNode[][];
}

/** Groups the items of a list. Anything between items belongs to the item before it. */
export function groupItems(children: readonly HastNode[]): ItemGroup[] {
  const items: HastNode[][] = [];
  for (const child of children) {
    if (isHastElement(child) && child.tagName === 'li') items.push(child.children);
    else if (isBlank(child)) continue;
    else if (isHastElement(child) && isListElement(child) && items.length > 0)
      items[items.length - 1] = [...(items.at(-1) ?? []), child];
    else items.push([child]);
  }
  const groups: ItemGroup[] = [];
  for (const item of items) {
    const isTask = findTaskMark(item) !== undefined;
    const last = groups.at(-1);
    if (last?.isTask === isTask) last.items.push(item);
    else groups.push({ isTask, items: [item] });
  }
  return groups;
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
