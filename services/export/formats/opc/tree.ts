/** Finding and changing things in an XML tree, by meaning and never by prefix. */
import { isElement, type XmlElement, type XmlNode } from './xml.ts';

/** WordprocessingML, the transitional form that every .docx but "Strict" uses (ECMA-376 part 4). */
export const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
/** Attributes that name a relationship. */
export const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export type WElement = XmlElement & { uri: typeof W };

/** Is this node the WordprocessingML element of one of these names? */
export function isW(node: XmlNode | undefined, ...locals: string[]): node is WElement {
  return isElement(node) && node.uri === W && locals.includes(node.local);
}

/** A WordprocessingML element of our own. */
export function w(local: string, values: Record<string, string>, children: XmlNode[] = []): XmlElement {
  const attributes = Object.entries(values).map(([name, value]) => ({
    name: `w:${name}`,
    uri: W,
    local: name,
    value,
  }));
  return { name: `w:${local}`, uri: W, local, attributes, children };
}

/** The child elements. */
export function elements(parent: XmlElement): XmlElement[] {
  return parent.children.filter(isElement);
}

/** The first WordprocessingML child of that name, along a path. */
export function childW(parent: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = parent;
  for (const local of path) found = found?.children.find((child): child is WElement => isW(child, local));
  return found;
}

/** The WordprocessingML children of that name. */
export function childrenW(parent: XmlElement | undefined, local: string): XmlElement[] {
  return parent ? parent.children.filter((child): child is WElement => isW(child, local)) : [];
}

/** An attribute's value; WordprocessingML's own namespace unless another is given. */
export function attribute(
  element: XmlElement | undefined,
  local: string,
  uri: string = W,
): string | undefined {
  return element?.attributes.find((found) => found.local === local && found.uri === uri)?.value;
}

/** `w:val` of a child along a path. */
export function valueW(parent: XmlElement | undefined, ...path: string[]): string | undefined {
  return attribute(childW(parent, ...path), 'val');
}

/** A whole number from an attribute value; undefined when it is none, or one that no Word file has (ST_DecimalNumber). */
export function parseNumber(value: string | undefined): number | undefined {
  const number = Number.parseInt(value ?? '', 10);
  return Math.abs(number) < 2 ** 31 ? number : undefined;
}

/** The most that Word takes for a measure, in twips: 22 inches. */
const MAX_TWIPS = 31_680;

/** A measure in twips; undefined when it is none, no more than Word takes otherwise. */
export function parseTwips(value: string | undefined): number | undefined {
  const number = parseNumber(value);
  return number === undefined ? undefined : Math.max(-MAX_TWIPS, Math.min(number, MAX_TWIPS));
}

/** The first number above all of these; far ones, which nobody counts up to, are left out. */
export function nextNumber(numbers: Iterable<number | undefined>): number {
  let largest = 0;
  for (const number of numbers)
    if (number !== undefined && number > largest && number < 2 ** 30) largest = number;
  return largest + 1;
}

/** Every element below the root in document order, with its parent. */
export function* walkElements(root: XmlElement): Generator<{ element: XmlElement; parent: XmlElement }> {
  const pending = elements(root).map((element) => ({ element, parent: root }));
  pending.reverse();
  for (let next = pending.pop(); next; next = pending.pop()) {
    yield next;
    const { element: parent } = next;
    for (let at = parent.children.length - 1; at >= 0; at -= 1) {
      const element = parent.children[at];
      if (isElement(element)) pending.push({ element, parent });
    }
  }
}

/**
 * Rewrites a tree from the leaves up: what `change` returns takes the element's place (`[]` removes it,
 * `element.children` unwraps it).
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
