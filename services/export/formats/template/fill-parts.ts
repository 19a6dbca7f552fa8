/** Replaces the placeholders in all visible parts of a template by slots, and reports what was found. */
import { bindPrefix, getRelationships, type Package, W, type XmlElement } from '#libs/opc';
import { insertHistorySlots, insertWatermarkSlots } from './content-slot.ts';
import { reject } from './fault.ts';
import { insertSlots, KNOWN_PLACEHOLDERS, MAX_HISTORIES, MAX_PLACEHOLDERS, toSlot } from './placeholders.ts';
import type { TemplateMode } from './plan.ts';

/** The names of all placeholders in order, and texts that look like a misspelled placeholder. */
export type TemplateText = { names: string[]; lookalikes: Set<string> };

/** Finds the parts whose text is visible on the page: the main part, headers, footers and notes. */
export function findFillableParts(pkg: Package, main: string): string[] {
  const kinds = ['header', 'footer', 'footnotes', 'endnotes'];
  const related = getRelationships(pkg, main).filter(({ type, part }) => part && kinds.includes(type));
  return [main, ...new Set(related.map(({ part }) => part ?? ''))];
}

/** Replaces the placeholders of these parts, of which the first is the main part. Errors: `TemplateRejected`. */
export function fillParts(parts: readonly [string, XmlElement][], nonce: string): TemplateText {
  const text: TemplateText = { names: [], lookalikes: new Set() };
  for (const [index, [part, root]] of parts.entries()) {
    const { names, lookalikes } = insertSlots(root, nonce);
    if (index > 0 && names.includes('content'))
      reject(
        'content_place',
        `The template has {{content}} in a header, footer or note (${part}); move it to a paragraph of the page.`,
      );
    text.names.push(...names);
    for (const lookalike of lookalikes) text.lookalikes.add(lookalike);
    limitPlaceholders(text.names);
    if (names.includes('history') || names.includes('watermark')) bindPrefix(root, 'w', W, part);
    insertHistorySlots(root, toSlot(nonce, 'history'));
    insertWatermarkSlots(root, toSlot(nonce, 'watermark'));
  }
  return text;
}

/** Warns about placeholders that are unknown, misspelled or missing. */
export function addWarnings(
  { names, lookalikes }: TemplateText,
  mode: TemplateMode,
  warn: (text: string) => void,
): void {
  const known = KNOWN_PLACEHOLDERS.map((name) => `{{${name}}}`).join(', ');
  for (const name of new Set(names))
    if (!KNOWN_PLACEHOLDERS.includes(name))
      warn(`The placeholder {{${name}}} is unknown and stays unchanged; known placeholders are ${known}.`);
  for (const text of lookalikes)
    warn(`The text ${text} is not a placeholder and stays unchanged; placeholders look like {{title}}.`);
  if (mode === 'append') warn('The template has no {{content}}; the document is inserted at its end.');
  if (mode === 'styles')
    warn(
      'The template has no placeholders; the document replaces its text. Styles, headers and footers stay.',
    );
}

function limitPlaceholders(names: readonly string[]): void {
  if (names.length > MAX_PLACEHOLDERS)
    reject(
      'too_many_placeholders',
      `The template has more than ${MAX_PLACEHOLDERS} placeholders; use fewer.`,
    );
  if (names.filter((name) => name === 'history').length > MAX_HISTORIES)
    reject('too_many_placeholders', `The template has more than ${MAX_HISTORIES} {{history}}; use fewer.`);
}
