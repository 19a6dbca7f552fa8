/** Lays out a table: column widths of the editor, else by content as browsers do; smaller letters if words need it. */
import { type GridCell, parsePixels, type RichText, walk } from '#libs/rich-text';
import { measureText } from './text-width.ts';

/**
 * The width of the table and of its columns, and the margin at the left and right of each cell, in twips. At least 80
 * twips remain between the margins of a cell. `fontSize` is in points, undefined for the size of the surrounding text.
 */
export type TableLayout = { total: number; widths: number[]; margin: number; fontSize?: number | undefined };

/**
 * The widths of a column in twips: that of its longest word, one that is comfortable to read, and that of its longest
 * paragraph.
 */
type ColumnWidth = { word: number; comfortable: number; paragraph: number };

/** Twips per pixel of the editor. */
const TWIPS_PER_PIXEL = 15;
/** Twips per thousandth of a font size of one point. */
const TWIPS_PER_UNIT = 0.02;
/** An estimate of a picture without a width, twips. */
const PICTURE = 2_000;
/** The indent of a list, twips. */
const LIST_INDENT = 360;
/** What is comfortable for a few words and for sentences: 5rem and 11rem, as on the public page. Twips. */
const FEW_WORDS = 1_200;
const SENTENCE = 2_640;
/** Longer paragraphs are sentences: about 60 characters, as on the public page. Twips. */
const MIN_SENTENCE = 6_000;
/** Width for borders and rounding, twips. */
const SPARE = 40;
/** The text of a cell that counts, in characters. Longer text wraps anyway. */
const MAX_CHARACTERS = 400;

/** Minimum column width in twips: a short word; if there are too many columns, a letter. */
const MIN_COLUMN_WIDTH = 360;
const ABSOLUTE_MIN_COLUMN_WIDTH = 120;
/** Word's default left and right cell margin, that of tables with small letters, and that of the narrowest columns. */
const MARGIN = 108;
const SMALL_MARGIN = 60;
const LEAST_MARGIN = 20;

/** The size of text in the built-in template, and the smaller ones of tables whose words do not fit. Points. */
const TEXT_SIZE = 10;
const SMALL_SIZES = [8, 6.5];
/** Other templates may have larger and wider letters than the built-in one. */
const OTHER_LETTERS = 1.25;

/**
 * Lays out a table that is as wide as the text, `available` twips. If a word does not fit into its column, all letters
 * get smaller. A column without a width from the editor is weighed as in a browser. If every paragraph fits into one
 * line, columns have the proportions of their longest paragraphs. Else the comfortable width comes first, or, if it is
 * not there for all columns, the longest word; the rest goes to the columns with long paragraphs.
 */
export function layOutTable(
  rows: GridCell[][],
  columns: number,
  { available, isBuiltIn }: { available: number; isBuiltIn: boolean },
): TableLayout {
  const total = Math.max(available, columns * ABSOLUTE_MIN_COLUMN_WIDTH);
  const minWidth = Math.min(MIN_COLUMN_WIDTH, Math.floor(total / columns));
  const letters = isBuiltIn ? 1 : OTHER_LETTERS;
  const layOut = (size: number, margin: number) => {
    const used = minWidth < MIN_COLUMN_WIDTH ? LEAST_MARGIN : margin;
    const measured = measureColumns(rows, columns, size * letters).map((column) => addSpace(column, used));
    return { measured, margin: used };
  };
  let layout = layOut(TEXT_SIZE, MARGIN);
  let fontSize: number | undefined;
  for (const size of SMALL_SIZES) {
    if (sum(layout.measured, 'word') <= total || hasEditorWidths(rows)) break;
    fontSize = size;
    layout = layOut(size, SMALL_MARGIN);
  }
  const widths = limitShares(shareWidth(layout.measured, total), total, minWidth);
  return { total, widths, margin: layout.margin, fontSize };
}

function shareWidth(columns: readonly ColumnWidth[], total: number): number[] {
  if (sum(columns, 'paragraph') <= total) return columns.map(({ paragraph }) => paragraph);
  if (sum(columns, 'comfortable') <= total) return spread(columns, total, 'comfortable', 'paragraph');
  if (sum(columns, 'word') <= total) return spread(columns, total, 'word', 'comfortable');
  return columns.map(({ word }) => word);
}

/** Gives each column its `least` width and spreads the rest in proportion to what is missing to `most`. */
function spread(
  columns: readonly ColumnWidth[],
  total: number,
  least: keyof ColumnWidth,
  most: keyof ColumnWidth,
): number[] {
  const share = (total - sum(columns, least)) / (sum(columns, most) - sum(columns, least));
  return columns.map((column) => column[least] + share * (column[most] - column[least]));
}

function sum(columns: readonly ColumnWidth[], key: keyof ColumnWidth): number {
  return columns.reduce((all, column) => all + column[key], 0);
}

/** Whether the editor has set a width: then columns have the proportions that its user has seen. */
function hasEditorWidths(rows: GridCell[][]): boolean {
  return rows.some((row) => row.some(({ pixels }) => pixels !== undefined));
}

/** Adds the margins, and the comfortable width between that of the longest word and of the longest paragraph. */
function addSpace({ min, max }: ContentWidth, margin: number): ColumnWidth {
  const space = 2 * margin + SPARE;
  const comfortable = Math.max(min, Math.min(max, max < MIN_SENTENCE ? FEW_WORDS : SENTENCE));
  return { word: min + space, comfortable: comfortable + space, paragraph: max + space };
}

/** Scales shares to the total; no column is narrower than `minWidth`. */
function limitShares(shares: readonly number[], total: number, minWidth: number): number[] {
  const sum = shares.reduce((all, share) => all + share, 0);
  const rest = total - shares.length * minWidth;
  const scaled = shares.map((share) => (share / sum) * total);
  if (scaled.every((width) => width >= minWidth)) return scaled.map(Math.floor);
  return shares.map((share) => minWidth + Math.floor((share / sum) * rest));
}

/** The width of the longest word and of the longest paragraph of a column or cell, in twips. */
type ContentWidth = { min: number; max: number };

function measureColumns(rows: GridCell[][], columns: number, fontSize: number): ContentWidth[] {
  const pixels: (number | undefined)[] = Array.from({ length: columns });
  const contents: (ContentWidth | undefined)[] = Array.from({ length: columns });
  const cells = rows.flat().filter(({ merge }) => merge !== 'continue');
  // a single-column cell is more exact than a share of a spanning cell
  for (const cell of cells.toSorted((a, b) => a.span - b.span)) {
    const hasPixels = cell.pixels !== undefined;
    const content = hasPixels ? undefined : measureCell(cell.cell, fontSize);
    for (let at = cell.column; at < cell.column + cell.span; at += 1) {
      if (cell.pixels !== undefined) pixels[at] ??= cell.pixels / cell.span;
      else if (content && (cell.span === 1 || !contents[at]))
        contents[at] = {
          min: Math.max(contents[at]?.min ?? 0, content.min / cell.span),
          max: Math.max(contents[at]?.max ?? 0, content.max / cell.span),
        };
    }
  }
  return contents.map((content, at) => {
    const width = pixels[at];
    if (width !== undefined) return { min: width * TWIPS_PER_PIXEL, max: width * TWIPS_PER_PIXEL };
    return content ?? { min: 0, max: 0 };
  });
}

function measureCell(cell: RichText, fontSize: number): ContentWidth {
  const unit = fontSize * TWIPS_PER_UNIT;
  const isBold = cell.type === 'tableHeader';
  let [min, max, line, indent, left] = [0, 0, 0, 0, MAX_CHARACTERS];
  const endLine = () => {
    max = Math.max(max, line + indent);
    line = 0;
  };
  for (const { node } of walk(cell)) {
    if (node.type === 'image') {
      const width = getPictureWidth(node);
      line += width;
      min = Math.max(min, Math.min(width, PICTURE));
    } else if (node.text === undefined) {
      endLine();
      if (node.type === 'listItem' || node.type === 'taskItem') indent = LIST_INDENT;
    } else {
      const text = node.text.slice(0, left);
      left -= text.length;
      const bold = isBold || (node.marks?.some(({ type }) => type === 'bold') ?? false);
      line += measureText(text, bold) * unit;
      for (const word of text.split(/\s+/)) min = Math.max(min, measureText(word, bold) * unit + indent);
    }
  }
  endLine();
  return { min, max };
}

/** Returns the width of a picture in twips. Impossible ones are ignored: 1e308 would make the width of columns NaN. */
function getPictureWidth({ attrs }: RichText): number {
  const pixels = typeof attrs?.width === 'number' ? parsePixels(attrs.width) : undefined;
  return pixels === undefined ? PICTURE : pixels * TWIPS_PER_PIXEL;
}
