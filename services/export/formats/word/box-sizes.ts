/** Estimates the sizes of rich text in the built-in template, for the page numbers of its contents. */
import { createGrid, type GridCell, type RichText } from '#libs/rich-text';
import type { AssetImages } from '../document.ts';
import { MAX_UNBROKEN_LINES } from './blocks.ts';
import { findImage, limitIndent } from './body-writer.ts';
import { CALLOUT_MARGIN, CALLOUT_SPACE, getCalloutWidth, getFrameWidth } from './callout.ts';
import type { Box } from './page-flow.ts';
import { EMU_PER_TWIP, getCaption, getPictureSize } from './picture.ts';
import { ROW_SPACE } from './table.ts';
import { layOutTable, type TableLayout } from './table-layout.ts';
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
const INDENT = 360;
/** The space below the line that a picture stands on. */
const DESCENT = 50;
/** The thin paragraph after a table, and the border of a row. */
const AFTER_TABLE = 160;
const ROW_BORDER = 10;

/**
 * The place of a block: `left`, `width` and `height` as in the renderer, so that text always has a width; `isCell` for
 * tighter paragraphs.
 */
type Place = {
  left: number;
  width: number;
  height: number;
  isCell?: boolean;
  isBold?: boolean;
  /** The size of text in points, if it is not that of the template. */
  fontSize?: number | undefined;
  /** The uploaded pictures. */
  assets?: AssetImages | undefined;
};

/** Returns the box of a heading of a node; `width` is that of its text. */
export function measureHeading(title: string, level: number, width: number): Box {
  const { size, before } = HEADINGS[level] ?? { size: TEXT, before: 0 };
  const lines = countLines([{ text: title, isBold: true }], toUnits(width, size));
  return { lines, lineHeight: size * LINE, before, after: 100, keepNext: true, isUnbreakable: true };
}

/** Returns a box of text in one style; `size` is in points. */
export function measureTextBox(
  text: string,
  width: number,
  size: number,
  { isBold = false, ...more }: Partial<Box> & { isBold?: boolean } = {},
): Box {
  return { lines: countLines([{ text, isBold }], toUnits(width, size)), lineHeight: size * LINE, ...more };
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
      const isUnbreakable = pieces.flatMap(({ text }) => text.split('\n')).length <= MAX_UNBROKEN_LINES;
      yield { lines: countLines(pieces, width), lineHeight: CODE * LINE, after: AFTER, isUnbreakable };
      return;
    }
    case 'blockquote':
      yield* measureBlocks(content, indent(place));
      return;
    case 'callout':
      yield* measureCallout(node, place);
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

/** Indents a quote or list item as the renderer does. */
function indent(place: Place): Place {
  return { ...place, left: limitIndent(place, place.left + INDENT) };
}

function* measureItem(item: RichText, list: string, place: Place): Generator<Box> {
  const inner = indent(place);
  const [first, ...rest] = item.content ?? [];
  const isText = first?.type === 'paragraph' || first?.type === 'heading';
  const leaves = isText ? (first.content ?? []) : [];
  yield { ...measureParagraph(leaves, inner), style: LIST_STYLES[list] };
  yield* measureCaptions(leaves, inner);
  yield* measureBlocks(isText || !first ? rest : [first, ...rest], inner);
}

const LIST_STYLES: Record<string, Box['style']> = {
  bulletList: 'bullet',
  orderedList: 'number',
  taskList: 'task',
};

function measureParagraph(leaves: readonly RichText[], place: Place): Box {
  const { left, width, isCell, isBold, fontSize = TEXT } = place;
  const space = isCell ? { before: CELL_SPACE, after: CELL_SPACE } : { after: AFTER };
  const picture = Math.max(0, ...leaves.map((leaf) => getPictureHeight(leaf, place)));
  if (picture > 0) {
    const keepNext = leaves.some((leaf) => getCaption(leaf) !== '');
    return { lines: 1, lineHeight: picture + DESCENT, ...space, keepNext };
  }
  const pieces = leaves.map(({ type, text = '', marks = [] }): TextPiece => {
    const has = (mark: string) => marks.some((found) => found.type === mark);
    if (type === 'hardBreak') return { text: '\n' };
    return { text, isBold: isBold || has('bold'), ...(has('code') ? { width: CODE_WIDTH } : {}) };
  });
  const lines = countLines(pieces, toUnits(width - left, fontSize));
  return { lines, lineHeight: fontSize * LINE, ...space };
}

function* measureCaptions(leaves: readonly RichText[], { left, width }: Place): Generator<Box> {
  for (const leaf of leaves)
    if (getCaption(leaf) !== '') yield measureTextBox(getCaption(leaf), width - left, 8.5, { after: 160 });
}

/** Returns the height of a picture in twips, 0 for other leaves. */
function getPictureHeight(leaf: RichText, place: Place): number {
  const image = leaf.type === 'image' ? findImage(place.assets, leaf.attrs?.src) : undefined;
  return image ? getPictureSize(leaf, image, place).height / EMU_PER_TWIP : 0;
}

function* measureTable(table: RichText, place: Place): Generator<Box> {
  const { rows, columns } = createGrid(table);
  const layout = layOutTable(rows, columns, { available: place.width - place.left, isBuiltIn: true });
  const heights = measureRows(rows, layout, { ...place, height: place.height - ROW_SPACE });
  let headerHeight = 0;
  let isHead = true;
  for (const [at, row] of rows.entries()) {
    isHead &&= row.every(({ cell }) => cell.type === 'tableHeader');
    const lineHeight = heights[at] ?? 0;
    const keepNext = isHead || at === rows.length - 2;
    yield { lines: 1, lineHeight, isUnbreakable: true, keepNext, ...(isHead ? {} : { headerHeight }) };
    if (isHead) headerHeight += lineHeight;
  }
  yield { lines: 1, lineHeight: AFTER_TABLE };
}

/** Returns the heights of rows. A cell that spans rows makes the last of them higher if they are too low for it. */
function measureRows(rows: GridCell[][], { widths, margin, fontSize }: TableLayout, place: Place): number[] {
  /** What the cells that continue into the next row still need, by column. */
  const pending = new Map<number, number>();
  return rows.map((row, at) => {
    let height = TEXT * LINE;
    for (const { cell, column, span, merge } of row) {
      const width = widths.slice(column, column + span).reduce((sum, each) => sum + each, -2 * margin);
      const isBold = cell.type === 'tableHeader';
      const inner = { ...place, left: 0, width, isCell: true, isBold, fontSize: fontSize ?? place.fontSize };
      const needed = merge === 'continue' ? pending.get(column) : getHeight(cell.content ?? [], inner);
      pending.set(column, needed ?? 0);
      const below = rows[at + 1]?.find((next) => next.column === column);
      if (below?.merge !== 'continue') height = Math.max(height, needed ?? 0);
    }
    height += ROW_BORDER;
    for (const [column, needed] of pending) pending.set(column, needed - height);
    return height;
  });
}

function* measureCallout(callout: RichText, place: Place): Generator<Box> {
  const frame = getFrameWidth(callout);
  const band = TEXT * LINE + 60 + frame;
  yield { lines: 1, lineHeight: band, keepNext: true, isUnbreakable: true };
  const width = getCalloutWidth(place) - 2 * CALLOUT_MARGIN;
  const inner = { ...place, left: 0, width, height: place.height - CALLOUT_SPACE, isCell: true };
  const lineHeight = getHeight(callout.content ?? [], inner) + frame;
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
