/** Estimates the sizes of rich text in the built-in template, for the page numbers of its contents. */
import { createGrid, parseImage, type RichText } from '#libs/rich-text';
import { getColumnWidths } from './column-widths.ts';
import type { Box } from './page-flow.ts';
import { estimateCaption } from './picture-height.ts';
import { countLines, type TextPiece } from './text-width.ts';

/** The height of a line of Arial with the line spacing of the template, in twips per point of the font size. */
const LINE = 20 * 1.149 * (269 / 240);
const TEXT = 10;
/** The font sizes and spaces of the styles heading 1 to 4. */
const HEADINGS = [
  { size: 15, before: 360 },
  { size: 12.5, before: 260 },
  { size: 10.5, before: 200 },
  { size: 10, before: 160 },
];
const CODE = 9.5;
/** The width of every character of a font for code, in thousandths of its size. */
const CODE_WIDTH = 550;
const AFTER = 120;
const CELL_SPACE = 40;
const CELL_MARGIN = 108;
const INDENT = 360;
/** The thin paragraph after a table, and the borders of a row and of a callout. */
const AFTER_TABLE = 160;
const ROW_BORDER = 10;
const CALLOUT_BORDER = 45;
const CALLOUT_MARGIN = 160;

/** The place of a block: `left` and `width` as in the renderer, `isCell` for tighter paragraphs. */
type Place = {
  left: number;
  width: number;
  height: number;
  isCell?: boolean;
  isBold?: boolean;
};

/** Returns the box of a heading of a node; `width` is that of its text. */
export function measureHeading(title: string, level: number, width: number): Box {
  const { size, before } = HEADINGS[level] ?? { size: TEXT, before: 0 };
  const lines = countLines([{ text: title, isBold: true }], toUnits(width, size));
  return { lines, lineHeight: size * LINE, before, after: 100, keepNext: true, isUnbreakable: true };
}

/** Returns a box of text in one style. */
export function measureTextBox(text: string, width: number, size: number, more: Partial<Box> = {}): Box {
  return { lines: countLines([{ text }], toUnits(width, size)), lineHeight: size * LINE, ...more };
}

/** Generates the boxes of blocks. */
export function* measureBlocks(nodes: readonly RichText[], place: Place): Generator<Box> {
  for (const node of nodes) yield* measureBlock(node, place);
}

function* measureBlock(node: RichText, place: Place): Generator<Box> {
  const content = node.content ?? [];
  switch (node.type) {
    case 'heading': {
      const inner = { ...measureParagraph(content, { ...place, isBold: true }), keepNext: true };
      yield { ...inner, before: HEADINGS[3]?.before ?? 0, after: 100 };
      return;
    }
    case 'codeBlock': {
      const width = toUnits(place.width - place.left, CODE);
      const pieces = content.map(({ text = '' }) => ({ text, width: CODE_WIDTH }));
      yield { lines: countLines(pieces, width), lineHeight: CODE * LINE, after: AFTER };
      return;
    }
    case 'blockquote':
      yield* measureBlocks(content, { ...place, left: place.left + INDENT });
      return;
    case 'callout':
      yield* measureCallout(content, place);
      return;
    case 'table':
      yield* measureTable(node, place);
      return;
    case 'bulletList':
    case 'orderedList':
    case 'taskList':
      for (const item of content) yield* measureItem(item, node.type, place);
      return;
    default:
      yield measureParagraph(content, place);
      yield* measureCaptions(content, place);
  }
}

function* measureItem(item: RichText, list: string, place: Place): Generator<Box> {
  const inner = { ...place, left: place.left + INDENT };
  const [first, ...rest] = item.content ?? [];
  const isText = first?.type === 'paragraph' || first?.type === 'heading';
  const style = list === 'orderedList' ? 'number' : 'bullet';
  yield { ...measureParagraph(isText ? (first.content ?? []) : [], inner), style };
  yield* measureBlocks(isText || !first ? rest : [first, ...rest], inner);
}

function measureParagraph(leaves: readonly RichText[], { left, width, height, isCell, isBold }: Place): Box {
  const space = isCell ? { before: CELL_SPACE, after: CELL_SPACE } : { after: AFTER };
  const picture = Math.max(0, ...leaves.map((leaf) => getPictureHeight(leaf, width - left, height)));
  if (picture > 0)
    return {
      lines: 1,
      lineHeight: picture + 50,
      ...space,
      keepNext: leaves.some((leaf) => getTitle(leaf) !== ''),
    };
  const pieces = leaves.map(({ type, text = '', marks = [] }): TextPiece => {
    const has = (mark: string) => marks.some((found) => found.type === mark);
    if (type === 'hardBreak') return { text: '\n' };
    return { text, isBold: isBold || has('bold'), ...(has('code') ? { width: CODE_WIDTH } : {}) };
  });
  return { lines: countLines(pieces, toUnits(width - left, TEXT)), lineHeight: TEXT * LINE, ...space };
}

function* measureCaptions(leaves: readonly RichText[], { left, width }: Place): Generator<Box> {
  for (const leaf of leaves)
    if (getTitle(leaf) !== '') yield measureTextBox(getTitle(leaf), width - left, 8.5, { after: 160 });
}

function getTitle({ type, attrs }: RichText): string {
  return type === 'image' && typeof attrs?.title === 'string' ? attrs.title.trim() : '';
}

/** Returns the height of a picture in twips, 0 for other leaves. */
function getPictureHeight(leaf: RichText, maxWidth: number, maxHeight: number): number {
  const image = leaf.type === 'image' ? parseImage(leaf.attrs?.src) : undefined;
  if (!image) return 0;
  const requested = typeof leaf.attrs?.width === 'number' ? leaf.attrs.width : image.width;
  const width = requested * 15;
  const height = (width * image.height) / image.width;
  const available = maxHeight - estimateCaption(getTitle(leaf), maxWidth);
  return height * Math.min(1, maxWidth / width, available / height);
}

function* measureTable(table: RichText, place: Place): Generator<Box> {
  const { rows, columns } = createGrid(table);
  const total = place.width - place.left;
  const widths = getColumnWidths(rows, {
    columns,
    total,
    minWidth: INDENT,
    margin: CELL_MARGIN,
    fontSize: TEXT,
  });
  let headerHeight = 0;
  let isHead = true;
  for (const row of rows) {
    isHead &&= row.every(({ cell }) => cell.type === 'tableHeader');
    const heights = row.map(({ cell, column, span, merge }) => {
      if (merge) return TEXT * LINE;
      const width =
        widths.slice(column, column + span).reduce((sum, each) => sum + each, 0) - 2 * CELL_MARGIN;
      return getHeight(cell.content ?? [], {
        ...place,
        left: 0,
        width,
        isCell: true,
        isBold: cell.type === 'tableHeader',
      });
    });
    const lineHeight = Math.max(...heights, TEXT * LINE) + ROW_BORDER;
    yield { lines: 1, lineHeight, isUnbreakable: true, ...(isHead ? { keepNext: true } : { headerHeight }) };
    if (isHead) headerHeight += lineHeight;
  }
  yield { lines: 1, lineHeight: AFTER_TABLE };
}

function* measureCallout(content: readonly RichText[], place: Place): Generator<Box> {
  const band = TEXT * LINE + 60 + CALLOUT_BORDER;
  yield { lines: 1, lineHeight: band, keepNext: true, isUnbreakable: true };
  const width = place.width - place.left - 2 * CALLOUT_MARGIN;
  const lineHeight = getHeight(content, { ...place, left: 0, width, isCell: true }) + CALLOUT_BORDER;
  yield { lines: 1, lineHeight, isUnbreakable: true, headerHeight: band };
  yield { lines: 1, lineHeight: AFTER_TABLE };
}

/** Returns the height of a cell with these blocks. */
function getHeight(nodes: readonly RichText[], place: Place): number {
  let height = 0;
  let previous: Box | undefined;
  for (const box of measureBlocks(nodes, place)) {
    const isTight = previous?.style !== undefined && previous.style === box.style;
    const gap = previous ? Math.max(previous.after ?? 0, box.before ?? 0) : (box.before ?? 0);
    height += (isTight ? 0 : gap) + box.lines * box.lineHeight;
    previous = box;
  }
  return height + (previous?.after ?? 0);
}

function toUnits(width: number, size: number): number {
  return (width / 20 / size) * 1_000;
}
