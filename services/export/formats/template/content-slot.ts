/** Makes room for the document's body where the template says {{content}}. */
import { reject } from '../opc/fault.ts';
import { childW, elements, isW, walkElements } from '../opc/tree.ts';
import { isElement, type XmlElement, type XmlNode } from '../opc/xml.ts';
import { containsText } from './placeholders.ts';

/** Puts the slot between blocks, in place of the paragraph that holds it; text beside it stays in paragraphs of its own. */
export function insertContentSlot(root: XmlElement, slot: string): void {
  const boxes = [...walkElements(root)].filter(({ element }) => isW(element, 'txbxContent'));
  if (boxes.some(({ element }) => containsText(element, slot))) rejectPlace();
  const places = [...walkElements(root)].filter(
    ({ element }) => isW(element, 'p') && textContains(element, slot),
  );
  const [place] = places;
  const many = places.length > 1 || (place && countSlots(place.element, slot) > 1);
  if (many) reject('content_twice', 'The template says {{content}} more than once; leave it in one place.');
  if (!place) return;
  splitAround(place.parent, place.element, slot);
  unwrapControls(root, slot);
  checkPlace(root, slot);
}

function countSlots(paragraph: XmlElement, slot: string): number {
  return [...walkElements(paragraph)]
    .filter(({ element }) => isW(element, 't'))
    .reduce((sum, { element }) => sum + element.children.join('').split(slot).length - 1, 0);
}

/** Like `holds`, without looking into paragraphs inside this one (text boxes). */
function textContains(parent: XmlElement, slot: string): boolean {
  return parent.children.some((child) => {
    if (typeof child === 'string') return child.includes(slot);
    return isElement(child) && !isW(child, 'p') && textContains(child, slot);
  });
}

function splitAround(parent: XmlElement, paragraph: XmlElement, slot: string): void {
  const [before, after] = split(paragraph, slot);
  const properties = childW(after, 'pPr');
  const section = childW(properties, 'sectPr');
  const beforeProperties = childW(before, 'pPr');
  if (beforeProperties)
    beforeProperties.children = beforeProperties.children.filter((child) => !isW(child, 'sectPr'));
  const first = isVisible(before) ? [before] : findRangeMarks(before);
  const end = section ? [{ ...after, children: properties ? [properties] : [] }] : [];
  const last = isVisible(after) ? [after] : [...end, ...findRangeMarks(after)];
  replaceChild(parent, paragraph, [...first, { raw: slot }, ...last]);
}

function replaceChild(parent: XmlElement, child: XmlElement, nodes: XmlNode[]): void {
  parent.children = parent.children.flatMap((one) => (one === child ? nodes : [one]));
}

/** The element twice: with what comes before the slot and with what comes after it; both keep its properties. */
function split(element: XmlElement, slot: string): [XmlElement, XmlElement] {
  const at = element.children.findIndex((child) =>
    typeof child === 'string' ? child.includes(slot) : isElement(child) && textContains(child, slot),
  );
  const middle = element.children[at];
  const properties = element.children.filter((child) => isW(child, 'pPr', 'rPr', 'sdtPr'));
  const before = { ...element, children: element.children.slice(0, Math.max(at, 0)) };
  const after = { ...element, children: [...properties, ...element.children.slice(at + 1)].map(copy) };
  if (typeof middle === 'string') {
    const [left = '', right = ''] = middle.split(slot);
    before.children.push(left);
    after.children.splice(properties.length, 0, right);
  } else if (isElement(middle)) {
    const [left, right] = split(middle, slot);
    if (!isW(middle, 'sdt') || isVisible(left)) before.children.push(left);
    if (!isW(middle, 'sdt') || isVisible(right)) after.children.splice(properties.length, 0, right);
  }
  return [before, after];
}

function copy(node: XmlNode): XmlNode {
  return isElement(node) ? { ...node, children: node.children.map(copy) } : node;
}

function isVisible(element: XmlElement): boolean {
  return [...walkElements(element)].some(
    ({ element: inner }) =>
      isW(inner, 'drawing', 'pict', 'br', 'fldChar', 'fldSimple', 'sym', 'footnoteReference') ||
      (isW(inner, 't') && inner.children.join('').trim() !== ''),
  );
}

/** Bookmarks and comment ranges may stand between blocks too, and are lost by nobody. */
function findRangeMarks(paragraph: XmlElement): XmlElement[] {
  return elements(paragraph).filter((child) =>
    isW(
      child,
      'bookmarkStart',
      'bookmarkEnd',
      'commentRangeStart',
      'commentRangeEnd',
      'permStart',
      'permEnd',
    ),
  );
}

/** A content control may hold one paragraph only, or be bound to data: the body takes its place. */
function unwrapControls(parent: XmlElement, slot: string): void {
  const child = elements(parent).find((one) => containsText(one, slot));
  if (!child) return;
  if (!isW(child, 'sdt')) {
    unwrapControls(child, slot);
    return;
  }
  replaceChild(parent, child, childW(child, 'sdtContent')?.children ?? []);
  unwrapControls(parent, slot);
}

function checkPlace(root: XmlElement, slot: string): void {
  let parent: XmlElement | undefined = root;
  while (parent) {
    if (
      parent.children.some((child) => !isElement(child) && typeof child === 'object' && child.raw === slot)
    ) {
      if (!isW(parent, 'body', 'tc')) rejectPlace();
      return;
    }
    parent = elements(parent).find((child) => containsText(child, slot));
  }
}

function rejectPlace(): never {
  return reject(
    'content_place',
    'The template has {{content}} where a whole document cannot stand (a text box or a note); put it in a paragraph of the page or of a table cell.',
  );
}
