/** Converts a Word file to an HTML tree: our package reader checks the file, mammoth converts what it contains. */
import type { Element, Root } from 'hast';
import mammoth from 'mammoth';
import { attribute, elements, isW } from '#libs/opc';
import { type HastNode, isHastElement } from '#libs/rich-text';
import { rejectImport } from '../import-fault.ts';
import type { ReportCollector } from '../report.ts';
import { BodyWriter } from './body-writer.ts';
import type { WordContext } from './inline-writer.ts';
import { parseMammothHtml } from './mammoth-html.ts';
import { styleMap, writeMinimalPackage } from './minimal-package.ts';
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
    links: new Map(),
    notes: [],
  };
  const body = new BodyWriter(context, parts.main).write(parts.body.children);
  const notes = context.notes.map(({ type, id }) => {
    const part = type === 'footnote' ? parts.footnotes : parts.endnotes;
    return part ? writeNote(context, part, id) : '';
  });
  const minimal = await writeMinimalPackage({ body, notes, links: context.links });
  const { value } = await mammoth.convertToHtml(
    { buffer: minimal },
    {
      styleMap,
      includeDefaultStyleMap: false,
      includeEmbeddedStyleMap: false,
      externalFileAccess: false,
      idPrefix: '',
      // the alternative text is the index
      convertImage: mammoth.images.imgElement(async (image) => ({
        src: `picture:${'altText' in image ? String(image.altText) : ''}`,
      })),
    },
  );
  const tree = parseMammothHtml(value);
  numberLists(tree);
  return { tree, pictures: context.pictures };
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

function writeNote(context: WordContext, part: TextPart, id: string): string {
  const note = elements(part.root).find(
    (element) => isW(element, 'footnote', 'endnote') && attribute(element, 'id') === id,
  );
  return note ? new BodyWriter(context, part, { isNote: true }).write(note.children) : '';
}

/** Sets the first number of ordered lists, and splits lists that mammoth has joined, by the marks of their items. */
function numberLists(parent: Root | Element): void {
  const children: HastNode[] = [];
  for (const child of parent.children) {
    if (isHastElement(child)) numberLists(child);
    if (isHastElement(child) && child.tagName === 'ol') children.push(...splitList(child));
    else children.push(child);
  }
  // the children of an element are elements, texts and comments, as before
  parent.children = children as Element['children'];
}

function splitList(list: Element): Element[] {
  const lists: Element[] = [];
  let next: number | undefined;
  for (const item of list.children.filter(isHastElement)) {
    const { number, numerals } = readMark(item);
    const last = lists.at(-1);
    if (!last || (number !== undefined && number !== next)) {
      const properties = {
        ...(number !== undefined && number !== 1 && { start: number }),
        ...(numerals !== undefined && numerals !== '1' && { type: numerals }),
      };
      lists.push({ ...list, properties, children: [item] });
    } else last.children.push(item);
    next = (number ?? next ?? 0) + 1;
  }
  return lists;
}

/** The number and the numerals in the mark at the beginning of an item. */
function readMark(item: Element): { number?: number; numerals?: string } {
  const first = item.children[0];
  if (!first || !isHastElement(first) || first.tagName !== 'a') return {};
  const match = /^item-(\d+)-(\w)$/.exec(String(first.properties.id ?? ''));
  return match ? { number: Number(match[1]), numerals: match[2] ?? '1' } : {};
}
