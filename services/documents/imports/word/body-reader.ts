/** Reads the checked content of a Word part into blocks of an HTML tree. */
import type { Element } from 'hast';
import {
  attribute,
  childW,
  isElement,
  isOn,
  isW,
  parseNumber,
  valueW,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { createHastElement } from '#libs/rich-text';
import { addParagraph, type Content, createIndented } from './block-tree.ts';
import { FieldReader, isContentsField } from './fields.ts';
import { readIndent, readTableIndent } from './indent.ts';
import { chooseAlternative, InlineReader, type WordContext } from './inline-reader.ts';
import { type ListMark, maxLevel } from './word-numbering.ts';
import type { TextPart } from './word-package.ts';
import { readNumberingReference } from './word-styles.ts';

/** Reads the blocks of one part. */
export class BodyReader {
  private readonly context: WordContext;
  private readonly inline: InlineReader;
  private readonly fields = new FieldReader();
  private isInContents = false;

  constructor(context: WordContext, part: TextPart, { isNote = false } = {}) {
    this.context = context;
    this.inline = new InlineReader(context, part, { fields: this.fields, isNote });
  }

  /** Returns the blocks. */
  read(children: readonly XmlNode[]): Content {
    const blocks: Content = [];
    this.readBlocks(children, blocks);
    return blocks;
  }

  private readBlocks(children: readonly XmlNode[], to: Content): void {
    for (const child of children) if (isElement(child)) this.readBlock(child, to);
  }

  private readBlock(element: XmlElement, to: Content): void {
    if (isW(element, 'p')) this.readParagraph(element, to);
    else if (isW(element, 'tbl')) to.push(this.readTable(element));
    else if (isW(element, 'sdt')) {
      if (isContentsControl(element)) this.skipContents(element);
      else this.readBlocks(childW(element, 'sdtContent')?.children ?? [], to);
    } else if (isW(element, 'altChunk')) this.context.report.drop('embedded_content');
    else if (isContentsField(element)) this.skipContents(element);
    else if (isW(element, 'sectPr', 'tblPr', 'trPr', 'tcPr', 'pPr')) return;
    else if (element.local === 'AlternateContent') this.readBlocks(chooseAlternative(element), to);
    else if (isInline(element)) this.readParagraph({ ...element, children: [element] }, to);
    else this.readBlocks(element.children, to);
  }

  private readParagraph(element: XmlElement, to: Content): void {
    const properties = childW(element, 'pPr');
    const styleId = valueW(properties, 'pStyle');
    const kind = this.context.styles.getKind(styleId);
    if (kind.kind === 'contents') {
      this.skipContents(element);
      this.isInContents = true;
      return;
    }
    if (kind.kind === 'heading') this.fields.endContents();
    const { content, textBoxes } = this.inline.read(element.children);
    this.fields.endParagraph();
    this.isInContents = this.fields.state.isContents;
    // Word counts headings in their lists, too, but the service numbers them itself
    const mark = this.countItem(properties, styleId);
    const item = kind.kind === 'text' && mark && 'item' in mark ? mark.item : undefined;
    if (mark && 'text' in mark && mark.text !== '') content.unshift({ type: 'text', value: `${mark.text} ` });
    addParagraph(to, { kind, item, indent: this.findIndent(properties, styleId, mark) }, content);
    for (const box of textBoxes) this.readBlocks(box.children, to);
  }

  /** Leaves out a table of contents, or one of its paragraphs. Its field can end in it. */
  private skipContents(element: XmlElement): void {
    if (!this.isInContents) this.context.report.drop('table_of_contents');
    this.fields.skip(element);
    this.fields.endParagraph();
  }

  private countItem(properties: XmlElement | undefined, styleId: string | undefined): ListMark | undefined {
    const direct = childW(properties, 'numPr');
    const own = direct && readNumberingReference(direct);
    const styled = this.context.styles.getNumbering(styleId);
    const numId = own?.numId ?? styled?.numId;
    if (numId === undefined || numId === '0') return undefined;
    const mark = this.context.numbering.next(numId, parseNumber(own?.level ?? styled?.level) ?? 0);
    if (!mark || 'text' in mark) return mark;
    // LibreOffice repeats the list of the style in the paragraph
    const isStyled = own?.numId === undefined || own.numId === styled?.numId;
    const level = Math.min(maxLevel, mark.item.level + (isStyled ? (styled?.depth ?? 0) : 0));
    return { ...mark, item: { ...mark.item, level } };
  }

  /** The left indent of a paragraph. That of a list comes before that of its style, unless the style names the list. */
  private findIndent(
    properties: XmlElement | undefined,
    styleId: string | undefined,
    mark: ListMark | undefined,
  ): number | undefined {
    const isDirect = childW(properties, 'numPr', 'numId') !== undefined;
    const direct = readIndent(properties) ?? (isDirect ? mark?.indent : undefined);
    return direct ?? this.context.styles.getIndent(styleId, mark?.indent);
  }

  private readTable(table: XmlElement): Element {
    let above = new Map<number, Element>();
    let isHeader = true;
    const rows = findParts(table, 'tr').flatMap((row) => {
      isHeader &&= isOn(childW(row, 'trPr', 'tblHeader'));
      const { cells, joined, columns } = this.readRow(row, isHeader ? 'th' : 'td', above);
      above = columns;
      // rich text cannot contain a row without cells, so those above must not extend over it
      if (cells.length === 0) return [];
      for (const cell of joined) cell.properties.rowSpan = Number(cell.properties.rowSpan ?? 1) + 1;
      return createHastElement('tr', {}, cells);
    });
    return createIndented('table', readTableIndent(table), rows);
  }

  /** Reads a row. A cell that continues the one above it is not shown. `above` has the cells above by first column. */
  private readRow(row: XmlElement, tagName: string, above: ReadonlyMap<number, Element>): TableRow {
    const columns = new Map<number, Element>();
    const joined: Element[] = [];
    let column = readSpan(childW(row, 'trPr'), 'gridBefore') ?? 0;
    const cells = column > 0 ? [createCell(tagName, column)] : [];
    for (const elements of findCells(row)) {
      const properties = elements.map((element) => childW(element, 'tcPr'));
      const span = properties.reduce((sum, each) => sum + (readSpan(each, 'gridSpan') ?? 1), 0);
      const upper = isContinued(properties[0], 'vMerge') ? above.get(column) : undefined;
      const isJoined = upper && (upper.properties.colSpan ?? 1) === span;
      const cell = isJoined
        ? upper
        : createCell(tagName, span, this.read(elements.flatMap(({ children }) => children)));
      (isJoined ? joined : cells).push(cell);
      columns.set(column, cell);
      column += span;
    }
    return { cells, joined, columns };
  }
}

/** Whether an element is content of a paragraph, although some programs write it outside of one. */
function isInline(element: XmlElement): boolean {
  return isW(element, 'r', 'hyperlink') || element.local === 'oMathPara' || element.local === 'oMath';
}

/** The cells of a row, those above that it continues, and both by their first columns. */
interface TableRow {
  cells: Element[];
  joined: Element[];
  columns: Map<number, Element>;
}

function createCell(tagName: string, span: number, content: Content = []): Element {
  return createHastElement(tagName, span > 1 ? { colSpan: span } : {}, content);
}

/** A number of columns; undefined if it is missing or out of range. */
function readSpan(properties: XmlElement | undefined, local: 'gridSpan' | 'gridBefore'): number | undefined {
  const span = parseNumber(valueW(properties, local)) ?? 0;
  return span >= 1 && span <= 1_000 ? span : undefined;
}

/** Whether a cell continues the one above it or before it. */
function isContinued(properties: XmlElement | undefined, local: 'vMerge' | 'hMerge'): boolean {
  const merge = childW(properties, local);
  return merge !== undefined && (attribute(merge, 'val') ?? 'continue') === 'continue';
}

/** The cells of a row, each with the next ones that continue it. */
function findCells(row: XmlElement): XmlElement[][] {
  const cells: XmlElement[][] = [];
  for (const element of findParts(row, 'tc')) {
    const last = cells.at(-1);
    if (last && isContinued(childW(element, 'tcPr'), 'hMerge')) last.push(element);
    else cells.push([element]);
  }
  return cells;
}

/** The rows of a table or the cells of a row, also those inside of content controls. */
function findParts(parent: XmlElement, local: 'tr' | 'tc'): XmlElement[] {
  return parent.children.filter(isElement).flatMap((child) => {
    if (isW(child, local)) return [child];
    return isW(child, 'sdt', 'sdtContent', 'customXml', 'ins', 'moveTo') ? findParts(child, local) : [];
  });
}

function isContentsControl(control: XmlElement): boolean {
  const gallery = valueW(control, 'sdtPr', 'docPartObj', 'docPartGallery');
  return gallery !== undefined && /table of contents/i.test(gallery);
}
