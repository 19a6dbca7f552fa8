/** Converts a Word file to an HTML tree. */
import type { Element, Root } from 'hast';
import { attribute, elements, isW } from '#libs/opc';
import { createHastElement } from '#libs/rich-text';
import { rejectImport } from '../import-fault.ts';
import type { ReportCollector } from '../report.ts';
import { BodyReader } from './body-reader.ts';
import type { WordContext } from './inline-reader.ts';
import { acceptTrackedChanges, hasTrackedChanges } from './tracked-changes.ts';
import { readNumbering } from './word-numbering.ts';
import { readWordParts, type TextPart, type WordParts } from './word-package.ts';
import type { WordPicture } from './word-pictures.ts';
import { readStyles } from './word-styles.ts';

/** An HTML tree; the `src` of its images is `picture:` and an index in `pictures`. */
export interface ConvertedWord {
  tree: Root;
  pictures: WordPicture[];
}

/** Converts a Word file. Errors: `ImportRejected`. */
export async function convertWord(
  file: Uint8Array,
  { acceptChanges, report }: { acceptChanges: boolean; report: ReportCollector },
): Promise<ConvertedWord> {
  const parts = await readWordParts(file);
  settleChanges(parts, acceptChanges);
  report.drop('header', parts.headers);
  report.drop('footer', parts.footers);
  report.drop('comment', parts.comments);
  const context: WordContext = {
    parts,
    report,
    styles: readStyles(parts.styles),
    numbering: readNumbering(parts.numbering),
    pictures: [],
    notes: [],
  };
  const children: Root['children'] = new BodyReader(context, parts.main).read(parts.body.children);
  const notes = readNotes(context);
  if (notes.length > 0) children.push(createHastElement('ol', {}, notes));
  return { tree: { type: 'root', children }, pictures: context.pictures };
}

/** Nobody has decided on text with tracked changes, unless the caller has. */
function settleChanges({ main, footnotes, endnotes }: WordParts, acceptChanges: boolean): void {
  const roots = [main, footnotes, endnotes].flatMap((part) => (part ? [part.root] : []));
  if (!roots.some(hasTrackedChanges)) return;
  if (!acceptChanges)
    rejectImport(
      'tracked_changes',
      'The file has tracked changes. Accept or reject them in Word, or send `tracked_changes=accept`.',
    );
  for (const root of roots) acceptTrackedChanges(root);
}

/** Reads the notes as items of the list at the end of the tree. A note that is missing is empty. */
function readNotes(context: WordContext): Element[] {
  const { footnotes, endnotes } = context.parts;
  const parts = { footnote: readNotePart(footnotes), endnote: readNotePart(endnotes) };
  return context.notes.map(({ type, id }, at) => {
    const { part, notes } = parts[type];
    const note = notes.get(id);
    const content = part && note ? new BodyReader(context, part, { isNote: true }).read(note.children) : [];
    return createHastElement('li', { id: `footnote-${at + 1}` }, content);
  });
}

function readNotePart(part: TextPart | undefined) {
  const notes = part ? elements(part.root).filter((element) => isW(element, 'footnote', 'endnote')) : [];
  return { part, notes: new Map(notes.map((note) => [attribute(note, 'id') ?? '', note])) };
}
