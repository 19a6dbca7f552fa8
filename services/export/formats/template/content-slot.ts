/** Turns {{content}}, {{history}} and {{watermark}}, which become more than text, into slots beside the text. */
import {
  attribute,
  childW,
  elements,
  isElement,
  isOn,
  isW,
  nextNumber,
  parseNumber,
  rewrite,
  W,
  w,
  walkElements,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { reject } from './fault.ts';
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
  splitAround(root, place, slot);
  unwrapControls(root, slot);
  checkPlace(root, slot);
}

/**
 * Replaces each paragraph with a {{history}} by its slot. It may be in any part: a table is valid wherever a paragraph
 * is. Text beside it stays in separate paragraphs.
 */
export function insertHistorySlots(root: XmlElement, slot: string): void {
  for (;;) {
    const found = [...walkElements(root)].find(
      ({ element }) => isW(element, 'p') && textContains(element, slot),
    );
    if (!found) return;
    splitAround(root, found, slot);
    unwrapControls(root, slot);
  }
}

/** Moves each slot of a watermark out of its text, so that a drawing can replace it in the same run. */
export function insertWatermarkSlots(root: XmlElement, slot: string): void {
  rewrite(root, (element) => {
    if (!isW(element, 't') || !containsText(element, slot)) return [element];
    const texts = element.children.join('').split(slot);
    return texts.flatMap((text, at) => [
      ...(at === 0 ? [] : [{ raw: slot }]),
      ...(text === '' ? [] : [{ ...element, children: [text] }]),
    ]);
  });
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

function splitAround(
  root: XmlElement,
  { element: paragraph, parent }: { element: XmlElement; parent: XmlElement },
  slot: string,
): void {
  const [before, after] = split(paragraph, slot);
  renumberChanges(root, before, after);
  const properties = childW(after, 'pPr');
  const section = childW(properties, 'sectPr');
  const beforeProperties = childW(before, 'pPr');
  if (beforeProperties)
    beforeProperties.children = beforeProperties.children.filter((child) => !isW(child, 'sectPr'));
  const pageBreak = takePageBreak(properties);
  const first = isVisible(before) ? [before] : [...pageBreak, ...findRangeMarks(before)];
  const end = section ? [{ ...after, children: properties ? [properties] : [] }] : [];
  const last = isVisible(after) ? [after] : [...end, ...findRangeMarks(after)];
  replaceChild(parent, paragraph, [...first, { raw: slot }, ...last]);
}

const CHANGES = ['ins', 'del', 'moveFrom', 'moveTo', 'pPrChange', 'rPrChange'];

/** Gives new ids to the tracked changes after the slot that are also before it: each id is unique in the document. */
function renumberChanges(root: XmlElement, before: XmlElement, after: XmlElement): void {
  const findChanges = (parent: XmlElement) =>
    [...walkElements(parent)].map(({ element }) => element).filter((element) => isW(element, ...CHANGES));
  const taken = new Set(findChanges(before).map((change) => attribute(change, 'id')));
  const repeated = findChanges(after).filter((change) => taken.has(attribute(change, 'id')));
  if (repeated.length === 0) return;
  let next = nextNumber([...walkElements(root)].map(({ element }) => parseNumber(attribute(element, 'id'))));
  for (const change of repeated) {
    const id = `${next}`;
    change.attributes = change.attributes.map((found) =>
      found.uri === W && found.local === 'id' ? { ...found, value: id } : found,
    );
    next += 1;
  }
}

/**
 * Removes "page break before" from the properties of the text after the slot. Returns an almost
 * invisible paragraph with the break, which is used if no text precedes the slot.
 */
function takePageBreak(properties: XmlElement | undefined): XmlElement[] {
  const found = childW(properties, 'pageBreakBefore');
  if (!properties || !found) return [];
  properties.children = properties.children.filter((child) => child !== found);
  if (!isOn(found)) return [];
  const spacing = w('spacing', { before: '0', after: '0', line: '20', lineRule: 'exact' });
  return [w('p', {}, [w('pPr', {}, [w('pageBreakBefore', {}), spacing])])];
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
    const at = middle.indexOf(slot);
    before.children.push(middle.slice(0, at));
    after.children.splice(properties.length, 0, middle.slice(at + slot.length));
  } else if (isElement(middle)) {
    const [left, right] = split(middle, slot);
    const isEnclosing = isW(middle, 'sdt', 'fldSimple');
    if (!isEnclosing || isVisible(left)) before.children.push(left);
    if (!isEnclosing || isVisible(right)) after.children.splice(properties.length, 0, right);
  }
  return [before, after];
}

function copy(node: XmlNode): XmlNode {
  return isElement(node) ? { ...node, children: node.children.map(copy) } : node;
}

/** The elements that are visible without text. */
const VISIBLE = [
  ...['drawing', 'pict', 'br', 'fldChar', 'fldSimple', 'sym'],
  ...['footnoteReference', 'endnoteReference'],
];
/** The namespace of formulas. */
const MATH = 'http://schemas.openxmlformats.org/officeDocument/2006/math';

function isVisible(element: XmlElement): boolean {
  return [...walkElements(element)].some(
    ({ element: inner }) =>
      isW(inner, ...VISIBLE) ||
      (inner.uri === MATH && inner.local === 'oMath') ||
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
      'moveFromRangeStart',
      'moveFromRangeEnd',
      'moveToRangeStart',
      'moveToRangeEnd',
    ),
  );
}

/** Unwraps content controls around the slot: they may allow only one paragraph or be bound to data. */
function unwrapControls(parent: XmlElement, slot: string): void {
  for (const child of elements(parent)) {
    if (!containsText(child, slot)) continue;
    if (isW(child, 'sdt')) {
      replaceChild(parent, child, childW(child, 'sdtContent')?.children ?? []);
      unwrapControls(parent, slot);
      return;
    }
    unwrapControls(child, slot);
  }
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
