/** Replaces {{content}} in a template by a slot for the document's body. */
import { reject } from '../opc/fault.ts';
import { childW, elements, isW, walkElements } from '../opc/tree.ts';
import { isElement, type XmlElement, type XmlNode } from '../opc/xml.ts';
import { containsText } from './placeholders.ts';

/** Replaces the paragraph that contains the slot by the slot; text beside it stays in separate paragraphs. */
export function insertContentSlot(root: XmlElement, slot: string): void {
  const boxes = [...walkElements(root)].filter(({ element }) => isW(element, 'txbxContent'));
  if (boxes.some(({ element }) => containsText(element, slot))) rejectPlace();
  const places = [...walkElements(root)].filter(
    ({ element }) => isW(element, 'p') && textContains(element, slot),
  );
  const [place] = places;
  const isRepeated = places.length > 1 || (place && countSlots(place.element, slot) > 1);
  if (isRepeated)
    reject('content_twice', 'The template contains {{content}} more than once; keep one of them.');
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

/** Like `containsText`, but without paragraphs inside this one (text boxes). */
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
  parent.children = parent.children.flatMap((node) => (node === child ? nodes : [node]));
}

/** Splits an element into the part before and the part after the slot; both keep its properties. */
function split(element: XmlElement, slot: string): [XmlElement, XmlElement] {
  const index = element.children.findIndex((child) =>
    typeof child === 'string' ? child.includes(slot) : isElement(child) && textContains(child, slot),
  );
  const middle = element.children[index];
  const properties = element.children.filter((child) => isW(child, 'pPr', 'rPr', 'sdtPr'));
  const before = { ...element, children: element.children.slice(0, Math.max(index, 0)) };
  const after = { ...element, children: [...properties, ...element.children.slice(index + 1)].map(copy) };
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

/** Finds the bookmarks and range marks of a paragraph; they may also stand between blocks. */
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

/** Unwraps content controls around the slot: they may allow only one paragraph or be bound to data. */
function unwrapControls(parent: XmlElement, slot: string): void {
  const child = elements(parent).find((element) => containsText(element, slot));
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
    'The template has {{content}} in a place that cannot contain a document (a text box or a note); move it to a paragraph of the page or of a table cell.',
  );
}
