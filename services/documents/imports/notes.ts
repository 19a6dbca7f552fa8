/** Takes the footnotes of an imported file apart, and adds them to the end of the text that refers to them. */
import type { Element, Root } from 'hast';
import { createHastElement, type HastNode, isHastElement } from '#libs/rich-text';

/** The notes of a file by id. */
export type Notes = ReadonlyMap<string, Note>;

/** A note. References show its number; `references` are the ids of the notes that it refers to itself. */
interface Note {
  number: number;
  item: Element;
  references: string[];
}

/** Removes the list of notes, which is the last element of the tree, and returns it. */
export function takeNotes(tree: Root): Notes {
  const at = tree.children.findLastIndex((child) => isHastElement(child));
  const last = tree.children[at];
  const list = last && isHastElement(last) ? findNoteList(last) : undefined;
  if (!list) return new Map();
  tree.children.splice(at, 1);
  const items = list.children.filter(isHastElement);
  return new Map(items.map((item, index) => [String(item.properties.id), toNote(item, index + 1)]));
}

function toNote(item: Element, number: number): Note {
  const children = withoutBackReferences(item.children);
  const references = [...new Set(children.flatMap(findReferences))];
  return { number, item: { ...item, children }, references };
}

/** Returns the content with the notes that it refers to, and those that these refer to, as lists at its end. */
export function addNotes(content: readonly HastNode[], notes: Notes): HastNode[] {
  if (notes.size === 0) return [...content];
  const ids = new Set(content.flatMap(findReferences));
  const lists: Element[] = [];
  let previous: number | undefined;
  for (const id of ids) {
    const note = notes.get(id);
    if (!note) continue;
    // the loop comes to ids that are added meanwhile
    for (const reference of note.references) ids.add(reference);
    const last = lists.at(-1);
    if (last && note.number === (previous ?? 0) + 1) last.children.push(note.item);
    else lists.push(createList(note.number, note.item));
    previous = note.number;
  }
  return [...content, ...lists];
}

function createList(start: number, item: Element): Element {
  return createHastElement('ol', { start }, [item]);
}

function findNoteList(last: Element): Element | undefined {
  if (last.tagName === 'section' && last.properties.dataFootnotes !== undefined)
    return last.children.find((child): child is Element => isHastElement(child) && child.tagName === 'ol');
  const items = last.tagName === 'ol' ? last.children.filter(isHastElement) : [];
  const areNotes =
    items.length > 0 && items.every(({ properties }) => /^footnote-\d+$/.test(String(properties.id)));
  return areNotes ? last : undefined;
}

function findReferences(node: HastNode): string[] {
  if (!isHastElement(node)) return [];
  const href = node.tagName === 'a' ? String(node.properties.href ?? '') : '';
  return href.startsWith('#') ? [decode(href.slice(1))] : node.children.flatMap(findReferences);
}

function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function withoutBackReferences(children: Element['children']): Element['children'] {
  return children.flatMap((child): Element['children'] => {
    if (!isHastElement(child)) return [child];
    const isBack =
      child.tagName === 'a' &&
      (child.properties.dataFootnoteBackref !== undefined ||
        /^#footnote-ref-\d+$/.test(String(child.properties.href)));
    return isBack ? [] : [{ ...child, children: withoutBackReferences(child.children) }];
  });
}
