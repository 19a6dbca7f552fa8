/** Chooses the widths of a table's columns: those of the editor, else by content, as browsers do. */
import { type GridCell, type RichText, walk } from '#libs/rich-text';
import { measureText } from './text-width.ts';

/** The number of columns, the widths in twips, and the size of the font in points. */
export type TableSize = {
  columns: number;
  total: number;
  minWidth: number;
  margin: number;
  fontSize: number;
};

/** The width of a column's longest word and of its longest paragraph, in twips. */
type ContentWidth = { min: number; max: number };

/** Twips per pixel of the editor. */
const TWIPS_PER_PIXEL = 15;
/** Twips per thousandth of a font size of one point. */
const TWIPS_PER_UNIT = 0.02;
/** An estimate of a picture without a width, twips. */
const PICTURE = 2_000;
/** The indent of a list, twips. */
const LIST_INDENT = 360;
/** A column is at least this wide if its longest paragraph is: 5rem, as on the public page. Twips. */
const COMFORTABLE = 1_200;
/** Width for borders and rounding, twips. */
const SPARE = 40;
/** The text of a cell that counts, in characters. Longer text wraps anyway. */
const MAX_CHARACTERS = 400;

/**
 * Returns column widths in twips that add up to at most `total`. A column without a width from the editor is weighed as
 * in a browser: if every paragraph fits into one line, columns have the proportions of their longest paragraphs; else
 * each gets its longest word, and the rest goes to the columns with long paragraphs.
 */
export function getColumnWidths(
  rows: GridCell[][],
  { columns, total, minWidth, margin, fontSize }: TableSize,
): number[] {
  const widths = measureColumns(rows, columns, fontSize).map(({ min, max }) => ({
    min: Math.max(min, Math.min(max, COMFORTABLE)) + 2 * margin + SPARE,
    max: max + 2 * margin + SPARE,
  }));
  const sum = (key: keyof ContentWidth) => widths.reduce((all, width) => all + width[key], 0);
  const [min, max] = [sum('min'), sum('max')];
  const shares =
    max <= total || min >= total
      ? widths.map((width) => (min >= total ? width.min : width.max))
      : widths.map((width) => width.min + ((total - min) * (width.max - width.min)) / (max - min));
  return limitShares(shares, total, minWidth);
}

/** Scales shares to the total; no column is narrower than `minWidth`. */
function limitShares(shares: readonly number[], total: number, minWidth: number): number[] {
  const sum = shares.reduce((all, share) => all + share, 0);
  const rest = total - shares.length * minWidth;
  const scaled = shares.map((share) => (share / sum) * total);
  if (scaled.every((width) => width >= minWidth)) return scaled.map(Math.floor);
  return shares.map((share) => minWidth + Math.floor((share / sum) * rest));
}

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
      const width = typeof node.attrs?.width === 'number' ? node.attrs.width * TWIPS_PER_PIXEL : PICTURE;
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
