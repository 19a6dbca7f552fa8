/** Finds {{placeholders}} as a reader sees them and turns them into slots that no text can imitate. */
import { childW, elements, everyElement, isW } from '../opc/tree.ts';
import { isElement, type XmlElement, type XmlNode } from '../opc/xml.ts';

/** The placeholders that an export fills. */
export const KNOWN = ['title', 'version', 'department', 'published_at', 'organization', 'content'];

/** What a slot looks like inside a compiled part. */
export function slot(nonce: string, name: string): string {
  return `${nonce}:${name};`;
}

/**
 * Turns every known placeholder of a part into its slot, also where Word has split it over runs;
 * tells the names found, unknown ones too, in order.
 */
export function findPlaceholders(root: XmlElement, nonce: string): string[] {
  const found: string[] = [];
  const paragraphs = [{ element: root }, ...everyElement(root)].filter(({ element }) => isW(element, 'p'));
  for (const { element } of paragraphs) found.push(...inParagraph(element, nonce));
  for (const { element } of everyElement(root)) if (isW(element, 'sdt')) unbind(element, nonce);
  return found;
}

/** Does anything below hold this text? */
export function holds(node: XmlNode, text: string): boolean {
  if (typeof node === 'string') return node.includes(text);
  return isElement(node) ? node.children.some((child) => holds(child, text)) : node.raw.includes(text);
}

type Piece = { element: XmlElement; text: string; from: number };

function inParagraph(paragraph: XmlElement, nonce: string): string[] {
  const pieces: Piece[] = [];
  let text = '';
  for (const element of textsOf(paragraph)) {
    const own = isW(element, 't')
      ? element.children.filter((child) => typeof child === 'string').join('')
      : '\n';
    pieces.push({ element, text: own, from: text.length });
    text += own;
  }
  const matches = [...text.matchAll(/\{\{[ \u00A0]*([A-Za-z][A-Za-z0-9_.-]{0,63})[ \u00A0]*\}\}/g)];
  for (const match of matches.toReversed()) {
    const name = (match[1] ?? '').toLowerCase();
    if (KNOWN.includes(name)) replace(pieces, match.index, match.index + match[0].length, slot(nonce, name));
  }
  return matches.map((match) => (match[1] ?? '').toLowerCase());
}

/** The text elements (and breaks) of a paragraph in order, without those of paragraphs inside it. */
function textsOf(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => {
    if (isW(child, 't', 'br', 'tab', 'cr')) return [child];
    return isW(child, 'p', 'pPr', 'rPr') ? [] : textsOf(child);
  });
}

function replace(pieces: Piece[], from: number, to: number, by: string): void {
  let isFirst = true;
  for (const piece of pieces) {
    const start = Math.max(from - piece.from, 0);
    const end = Math.min(to - piece.from, piece.text.length);
    if (start >= piece.text.length || end <= 0) continue;
    const kept = piece.text.slice(0, start) + (isFirst ? by : '') + piece.text.slice(end);
    isFirst = false;
    setText(piece.element, kept);
    // Matches are replaced from the last to the first, so what is before `start` keeps its place.
    piece.text = kept;
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

/** A content control bound to other data would show that data instead of what was filled in. */
function unbind(control: XmlElement, nonce: string): void {
  const content = childW(control, 'sdtContent');
  const properties = childW(control, 'sdtPr');
  if (!content || !properties || !holds(content, `${nonce}:`)) return;
  properties.children = properties.children.filter(
    (child) => !isElement(child) || !['dataBinding', 'showingPlcHdr'].includes(child.local),
  );
}
