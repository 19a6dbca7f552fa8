/** Queries and changes XML trees by namespace and local name, never by prefix. */
import { isElement, type XmlElement, type XmlNode } from './xml.ts';

/** The WordprocessingML namespace of all .docx files except "Strict" ones (ECMA-376 part 4, transitional). */
export const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
/** The namespace of attributes that contain a relationship id. */
export const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A WordprocessingML element. */
export type WElement = XmlElement & { uri: typeof W };

/** Returns true for a WordprocessingML element with one of these local names. */
export function isW(node: XmlNode | undefined, ...locals: string[]): node is WElement {
  return isElement(node) && node.uri === W && locals.includes(node.local);
}

/** Creates a WordprocessingML element. */
export function w(local: string, values: Record<string, string>, children: XmlNode[] = []): XmlElement {
  const attributes = Object.entries(values).map(([name, value]) => ({
    name: `w:${name}`,
    uri: W,
    local: name,
    value,
  }));
  return { name: `w:${local}`, uri: W, local, attributes, children };
}

/** Returns the child elements. */
export function elements(parent: XmlElement): XmlElement[] {
  return parent.children.filter(isElement);
}

/** Follows a path of local names, each to the first matching WordprocessingML child; returns the last. */
export function childW(parent: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let element = parent;
  for (const local of path) element = element?.children.find((child): child is WElement => isW(child, local));
  return element;
}

/** Returns the WordprocessingML children with this local name. */
export function childrenW(parent: XmlElement | undefined, local: string): XmlElement[] {
  return parent ? parent.children.filter((child): child is WElement => isW(child, local)) : [];
}

/** Returns an attribute's value; the default namespace is WordprocessingML. */
export function attribute(
  element: XmlElement | undefined,
  local: string,
  uri: string = W,
): string | undefined {
  return element?.attributes.find((found) => found.local === local && found.uri === uri)?.value;
}

/** Returns the `w:val` of the child at a path. */
export function valueW(parent: XmlElement | undefined, ...path: string[]): string | undefined {
  return attribute(childW(parent, ...path), 'val');
}

/** Parses an integer; undefined if it is not a number or outside the range of ST_DecimalNumber. */
export function parseNumber(value: string | undefined): number | undefined {
  const number = Number.parseInt(value ?? '', 10);
  return Math.abs(number) < 2 ** 31 ? number : undefined;
}

/** Word's largest measure: 22 inches, in twips. */
const MAX_TWIPS = 31_680;

/** Parses a measure in twips and limits it to Word's range; undefined if it is not a number. */
export function parseTwips(value: string | undefined): number | undefined {
  const number = parseNumber(value);
  return number === undefined ? undefined : Math.max(-MAX_TWIPS, Math.min(number, MAX_TWIPS));
}

/** Returns the largest number plus one. Numbers of 2^30 and more are ignored. */
export function nextNumber(numbers: Iterable<number | undefined>): number {
  let largest = 0;
  for (const number of numbers)
    if (number !== undefined && number > largest && number < 2 ** 30) largest = number;
  return largest + 1;
}

/** Generates every element below the root in document order, with its parent. */
export function* walkElements(root: XmlElement): Generator<{ element: XmlElement; parent: XmlElement }> {
  const pending = elements(root).map((element) => ({ element, parent: root }));
  pending.reverse();
  for (let next = pending.pop(); next; next = pending.pop()) {
    yield next;
    const { element: parent } = next;
    for (let index = parent.children.length - 1; index >= 0; index -= 1) {
      const element = parent.children[index];
      if (isElement(element)) pending.push({ element, parent });
    }
  }
}

/**
 * Rewrites the tree below a root, leaves first. The result of `change` replaces an element: `[]` removes it,
 * `element.children` unwraps it.
 */
export function rewrite(root: XmlElement, change: (element: XmlElement) => XmlNode[]): void {
  let changed = false;
  const children = root.children.flatMap((child) => {
    if (!isElement(child)) return [child];
    rewrite(child, change);
    const result = change(child);
    changed ||= result.length !== 1 || result[0] !== child;
    return result;
  });
  if (changed) root.children = children;
}

/** Returns the text of an element, without that of the elements in it. */
export function getText(element: XmlElement): string {
  return element.children.filter((child) => typeof child === 'string').join('');
}
