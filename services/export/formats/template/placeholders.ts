/** Finds {{placeholders}} in the visible text and turns them into slots that no text can imitate. */
import { childW, elements, isElement, isW, walkElements, type XmlElement, type XmlNode } from '#libs/opc';

/** The placeholders that an export replaces. */
export const KNOWN_PLACEHOLDERS = [
  ...['title', 'version', 'version_label', 'department', 'published_at', 'organization', 'content'],
  ...['status', 'owner', 'editor', 'document_id', 'url', 'exported_at', 'history', 'watermark'],
  ...['approved_by', 'approved_at', 'change_summary', 'content_hash', 'review_due'],
];

/** Maximum number of {{history}} in a template: each may become a table of 200 versions. */
export const MAX_HISTORIES = 10;

/** Maximum number of placeholders in a template: in each export, each may be replaced by a long title. */
export const MAX_PLACEHOLDERS = 1_000;

/** Returns the slot of a placeholder, as it is written in a compiled part. */
export function toSlot(nonce: string, name: string): string {
  return `${nonce}:${name};`;
}

/** The names of known and unknown placeholders in order, and texts that look like a misspelled placeholder. */
export type FoundPlaceholders = { names: string[]; lookalikes: Set<string> };

/**
 * Replaces every known placeholder of a part by its slot, even if Word has split it over runs. Stops when the
 * placeholders exceed the maximum of a template.
 */
export function insertSlots(root: XmlElement, nonce: string): FoundPlaceholders {
  const found: FoundPlaceholders = { names: [], lookalikes: new Set() };
  for (const { element } of walkElements(root)) {
    if (!isW(element, 'p')) continue;
    insertSlotsInParagraph(element, nonce, found);
    if (found.names.length > MAX_PLACEHOLDERS) return found;
  }
  for (const { element } of walkElements(root)) if (isW(element, 'sdt')) unbind(element, nonce);
  return found;
}

/** Returns true if the node or a descendant contains this text. */
export function containsText(node: XmlNode, text: string): boolean {
  if (typeof node === 'string') return node.includes(text);
  return isElement(node) ? node.children.some((child) => containsText(child, text)) : node.raw.includes(text);
}

/** A text element, its text, and the offset of the text in its paragraph. */
type Piece = { element: XmlElement; text: string; from: number };
/** The range of a known placeholder in its paragraph's text, and its slot. */
type Match = { from: number; to: number; slot: string };

/**
 * A name in two braces is a placeholder; one in other braces, or after `$`, is probably meant to be one. So is other
 * text in two braces.
 */
const PLACEHOLDER =
  /(\$?)(\{{1,2})[ \u00A0]*([A-Za-z][A-Za-z0-9_.-]{0,63})[ \u00A0]*(\}{1,2})|\{\{[^{}\n]{1,64}\}\}/g;

function insertSlotsInParagraph(paragraph: XmlElement, nonce: string, found: FoundPlaceholders): void {
  const pieces: Piece[] = [];
  let from = 0;
  for (const element of findTextElements(paragraph)) {
    const text = isW(element, 't')
      ? element.children.filter((child) => typeof child === 'string').join('')
      : '\n';
    pieces.push({ element, text, from });
    from += text.length;
  }
  const text = pieces.map((piece) => piece.text).join('');
  const known: Match[] = [];
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, sign = '', open = '', word = '', close = ''] = match;
    if (open.length + close.length < 4) {
      if (found.lookalikes.size < MAX_PLACEHOLDERS) found.lookalikes.add(whole);
      continue;
    }
    const name = word.toLowerCase();
    const to = match.index + whole.length;
    found.names.push(name);
    if (KNOWN_PLACEHOLDERS.includes(name))
      known.push({ from: match.index + sign.length, to, slot: toSlot(nonce, name) });
    if (found.names.length > MAX_PLACEHOLDERS) break;
  }
  replaceMatches(pieces, known);
}

/**
 * Finds the text elements and breaks of a paragraph in order, without those of nested paragraphs, and without text that
 * a tracked change moves away: it is in the file twice.
 */
function findTextElements(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (isW(child, 't', 'br', 'tab', 'cr')) return [child];
    return isW(child, 'p', 'pPr', 'rPr', 'moveFrom') ? [] : findTextElements(child);
  });
}

/** Inserts each slot where its placeholder begins and removes the placeholder from all pieces. */
function replaceMatches(pieces: Piece[], matches: Match[]): void {
  let first = 0;
  for (const piece of pieces) {
    const end = piece.from + piece.text.length;
    while ((matches[first]?.to ?? Number.POSITIVE_INFINITY) <= piece.from) first += 1;
    let text = '';
    let offset = piece.from;
    let isChanged = false;
    for (let index = first; ; index += 1) {
      const match = matches[index];
      if (!match || match.from >= end) break;
      isChanged = true;
      if (match.from >= piece.from)
        text += piece.text.slice(offset - piece.from, match.from - piece.from) + match.slot;
      offset = Math.min(match.to, end);
    }
    if (isChanged) setText(piece.element, text + piece.text.slice(offset - piece.from));
  }
}

function setText(element: XmlElement, text: string): void {
  element.children = [text];
  if (element.attributes.some(({ name }) => name === 'xml:space')) return;
  element.attributes.push({
    name: 'xml:space',
    uri: 'http://www.w3.org/XML/1998/namespace',
    local: 'space',
    value: 'preserve',
  });
}

/** Removes the data binding of a content control, because Word would show the bound data instead. */
function unbind(control: XmlElement, nonce: string): void {
  const content = childW(control, 'sdtContent');
  const properties = childW(control, 'sdtPr');
  if (!content || !properties || !containsText(content, `${nonce}:`)) return;
  properties.children = properties.children.filter(
    (child) => !isElement(child) || !['dataBinding', 'showingPlcHdr'].includes(child.local),
  );
}
