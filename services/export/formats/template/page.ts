/** Reads the sections of a template: the text area, and the headers that the last section inherits. */
import {
  attribute,
  childrenW,
  childW,
  elements,
  isElement,
  isOnValue,
  isW,
  parseNumber,
  parseTwips,
  valueW,
  walkElements,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';

/** The area for the body, in twips (1,440 per inch). */
export type TextArea = { width: number; height: number };

/** Returns the text area of the section with the slot; in a table cell, its width is that of the cell. */
export function getTextArea(body: XmlElement, slot: string): TextArea {
  const { section, cell, row, table } = findSurroundings(body, slot);
  const area = getSectionArea(section);
  const width = childW(cell, 'tcPr', 'tcW');
  const isAbsolute = attribute(width, 'type') === 'dxa';
  const cellWidth = isAbsolute ? parseTwips(attribute(width, 'w')) : getGridWidth(cell, row, table);
  return cellWidth ? { ...area, width: Math.max(cellWidth - CELL_MARGINS, MIN_SIZE) } : area;
}

/** Copies the last section's properties and adds the headers and footers that it inherits. */
export function createLastSection(body: XmlElement): XmlElement | undefined {
  const sections = findSections(body);
  const last = sections.at(-1);
  if (!last) return undefined;
  const inherited = new Map<string, XmlElement>();
  for (const section of sections)
    for (const kind of ['headerReference', 'footerReference'])
      for (const reference of childrenW(section, kind))
        inherited.set(`${kind} ${attribute(reference, 'type') ?? 'default'}`, reference);
  const rest = last.children.filter((child) => !isW(child, 'headerReference', 'footerReference'));
  return { ...last, children: [...inherited.values(), ...rest] };
}

const CELL_MARGINS = 216;
const MIN_SIZE = 1_440;
const A4 = { width: 11_906, height: 16_838 };

/** The elements around the slot: its section, and the innermost cell with its row and table. */
type Surroundings = { section?: XmlElement; cell?: XmlElement; row?: XmlElement; table?: XmlElement };

/** Finds the section and table cell of the slot. A section's properties follow its content. */
function findSurroundings(body: XmlElement, slot: string): Surroundings {
  let found: Surroundings = {};
  let isPast = false;
  const visit = (parent: XmlElement, around: Surroundings) => {
    for (const child of parent.children) {
      if (isSlot(child, slot)) {
        isPast = true;
        found = { ...around };
      }
      if (!isElement(child)) continue;
      if (isW(child, 'sectPr')) {
        if (isPast) found.section ??= child;
      } else if (isW(child, 'tbl')) visit(child, { table: child });
      else if (isW(child, 'tr')) visit(child, { ...around, row: child });
      else visit(child, isW(child, 'tc') ? { ...around, cell: child } : around);
    }
  };
  visit(body, {});
  return found;
}

/** Returns the width of the columns that a cell covers; undefined if the table does not state all of them. */
function getGridWidth(
  cell: XmlElement | undefined,
  row: XmlElement | undefined,
  table: XmlElement | undefined,
): number | undefined {
  if (!cell || !row) return undefined;
  const grid = childrenW(childW(table, 'tblGrid'), 'gridCol').map((column) =>
    parseTwips(attribute(column, 'w')),
  );
  const getSpan = (each: XmlElement) => Math.max(parseNumber(valueW(each, 'tcPr', 'gridSpan')) ?? 1, 1);
  const cells = findCells(row);
  const start = cells
    .slice(0, cells.indexOf(cell))
    .reduce((sum, each) => sum + getSpan(each), parseNumber(valueW(row, 'trPr', 'gridBefore')) ?? 0);
  const widths = grid.slice(start, start + getSpan(cell));
  return widths.reduce((sum: number, width) => sum + (width ?? Number.NaN), 0) || undefined;
}

/** Finds the cells of a row, also those in content controls. */
function findCells(parent: XmlElement): XmlElement[] {
  return elements(parent).flatMap((child) => (isW(child, 'tc') ? [child] : findCells(child)));
}

function isSlot(node: XmlNode, slot: string): boolean {
  return typeof node === 'object' && !isElement(node) && node.raw === slot;
}

function findSections(body: XmlElement): XmlElement[] {
  return [...walkElements(body)]
    .filter(({ element, parent }) => isW(element, 'sectPr') && isW(parent, 'pPr', 'body'))
    .map(({ element }) => element);
}

function getSectionArea(section: XmlElement | undefined): TextArea {
  const size = childW(section, 'pgSz');
  const margins = childW(section, 'pgMar');
  const read = (element: XmlElement | undefined, name: string, fallback: number) =>
    Math.abs(parseTwips(attribute(element, name)) ?? fallback);
  const sides = read(margins, 'left', 1_440) + read(margins, 'right', 1_440) + read(margins, 'gutter', 0);
  const ends = read(margins, 'top', 1_440) + read(margins, 'bottom', 1_440);
  const columns = childW(section, 'cols');
  const count = Math.max(parseNumber(attribute(columns, 'num')) ?? 1, 1);
  const width = read(size, 'w', A4.width) - sides - (count - 1) * read(columns, 'space', 720);
  return {
    width: Math.max(getNarrowestColumn(columns) ?? Math.floor(width / count), MIN_SIZE),
    height: Math.max(read(size, 'h', A4.height) - ends, MIN_SIZE),
  };
}

/** Returns the width of the narrowest column if columns have widths of their own: text flows through all of them. */
function getNarrowestColumn(columns: XmlElement | undefined): number | undefined {
  if (isOnValue(attribute(columns, 'equalWidth') ?? 'on')) return undefined;
  const widths = childrenW(columns, 'col').flatMap((column) => parseTwips(attribute(column, 'w')) ?? []);
  return widths.length > 1 ? Math.min(...widths) : undefined;
}
