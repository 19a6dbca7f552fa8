/** Reads the sections of a template: the text area, and the headers that the last section inherits. */
import {
  attribute,
  childrenW,
  childW,
  isElement,
  isW,
  parseNumber,
  parseTwips,
  walkElements,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';

/** The area for the body, in twips (1,440 per inch). */
export type TextArea = { width: number; height: number };

/** Returns the text area of the section with the slot; in a table cell, its width is that of the cell. */
export function getTextArea(body: XmlElement, slot: string): TextArea {
  const { section, cell } = findSurroundings(body, slot);
  const area = getSectionArea(section);
  const width = childW(cell, 'tcPr', 'tcW');
  const cellWidth = attribute(width, 'type') === 'dxa' ? parseTwips(attribute(width, 'w')) : undefined;
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

/** Finds the section and table cell of the slot. A section's properties follow its content. */
function findSurroundings(body: XmlElement, slot: string): { section?: XmlElement; cell?: XmlElement } {
  const found: { section?: XmlElement; cell?: XmlElement } = {};
  let isPast = false;
  const visit = (parent: XmlElement, cell: XmlElement | undefined) => {
    for (const child of parent.children) {
      if (isSlot(child, slot)) {
        isPast = true;
        if (cell) found.cell = cell;
      }
      if (!isElement(child)) continue;
      if (isW(child, 'sectPr')) {
        if (isPast) found.section ??= child;
      } else visit(child, isW(child, 'tc') ? child : cell);
    }
  };
  visit(body, undefined);
  return found;
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
    width: Math.max(Math.floor(width / count), MIN_SIZE),
    height: Math.max(read(size, 'h', A4.height) - ends, MIN_SIZE),
  };
}
