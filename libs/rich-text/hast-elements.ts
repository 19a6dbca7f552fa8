/** Creates and queries elements of HTML trees (hast). */
import type { Element, RootContent } from 'hast';

/** A node of an HTML tree below the root. */
export type HastNode = RootContent;

/** Creates an element. */
export function createHastElement(
  tagName: string,
  properties: Element['properties'] = {},
  children: Element['children'] = [],
): Element {
  return { type: 'element', tagName, properties, children };
}

/** Returns true for an element. */
export function isHastElement(node: HastNode): node is Element {
  return node.type === 'element';
}

/** Returns true for `ul`, `ol`, and `menu`. */
export function isListElement(element: Element): boolean {
  return /^(ul|ol|menu|dir)$/.test(element.tagName);
}

/** Returns true if the element has a class. */
export function hasClass(element: Element, name: string): boolean {
  const names = element.properties.className;
  return Array.isArray(names) && names.includes(name);
}

/** The text of a node as it is written; a `br` is a line feed. */
export function toHastText(node: HastNode): string {
  if (node.type === 'text') return node.value;
  if (!isHastElement(node)) return '';
  return node.tagName === 'br' ? '\n' : node.children.map(toHastText).join('');
}
