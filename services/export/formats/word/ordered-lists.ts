/** Numbers ordered lists so that a list inside an item does not change the numbers of the list around it. */
import { ORDERED_NSID, toNsid } from '../template/lists.ts';
import type { BodyWriter } from './body-writer.ts';

/**
 * Adds an ordered list that starts at `start` on its level, renders its items and returns their markup. Programs count
 * the items of all lists of a pattern together. In a table, a callout or below the last level, a list is on the same
 * level as the list around it, so it has another pattern.
 */
export function renderOrderedList(
  writer: BodyWriter,
  { level, start }: { level: number; start: number },
  renderItems: (numId: number) => string,
): string {
  const outer = writer.openLists.at(-1);
  const pattern = outer === undefined ? 0 : outer.pattern + (level > outer.level ? 0 : 1);
  const { nextNumId, orderedAbstractId } = writer.plan.lists;
  const numId = nextNumId + writer.lists.length;
  writer.lists.push(
    `<w:num w:numId="${numId}"><w:abstractNumId w:val="${orderedAbstractId + pattern}"/>` +
      `<w:lvlOverride w:ilvl="${level}"><w:startOverride w:val="${start}"/></w:lvlOverride></w:num>`,
  );
  writer.patterns = Math.max(writer.patterns, pattern);
  writer.openLists.push({ level, pattern });
  const items = renderItems(numId);
  writer.openLists.pop();
  return items;
}

/** Copies the template's pattern of ordered lists as often as the body needs; `numbering` is the text of the part. */
export function copyListPatterns(numbering: string, { plan, patterns }: BodyWriter): string {
  const id = plan.lists.orderedAbstractId;
  const end = '</w:abstractNum>';
  const from = numbering.indexOf(`<w:abstractNum w:abstractNumId="${id}">`);
  const to = numbering.indexOf(end, from) + end.length;
  const pattern = numbering.slice(from, to);
  const toElement = (copy: number) => `<w:nsid w:val="${toNsid(ORDERED_NSID + copy)}"/>`;
  const copies = Array.from({ length: patterns }, (_, at) =>
    pattern
      .replace(`w:abstractNumId="${id}"`, `w:abstractNumId="${id + at + 1}"`)
      .replace(toElement(0), toElement(at + 1)),
  );
  return numbering.slice(0, to) + copies.join('') + numbering.slice(to);
}
