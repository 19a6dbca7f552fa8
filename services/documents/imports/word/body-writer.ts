/** Writes the checked content of a Word part as new, minimal WordprocessingML, which is all that mammoth reads. */
import {
  attribute,
  childW,
  escapeXml,
  isElement,
  isW,
  parseNumber,
  valueW,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { FieldReader } from './fields.ts';
import { chooseAlternative, InlineWriter, type WordContext } from './inline-writer.ts';
import type { TextPart } from './word-package.ts';
import { type ParagraphKind, readNumberingReference } from './word-styles.ts';

/** Writes the blocks of one part. */
export class BodyWriter {
  private readonly context: WordContext;
  private readonly inline: InlineWriter;
  private readonly fields = new FieldReader();
  private readonly out: string[] = [];
  private isInContents = false;

  constructor(context: WordContext, part: TextPart, { isNote = false } = {}) {
    this.context = context;
    const blocks = (children: readonly XmlNode[]) => this.writeBlocks(children);
    this.inline = new InlineWriter(context, part, { fields: this.fields, isNote, blocks });
  }

  /** Returns the markup of the blocks. */
  write(children: readonly XmlNode[]): string {
    this.writeBlocks(children);
    return this.out.join('');
  }

  private writeBlocks(children: readonly XmlNode[]): void {
    for (const child of children) if (isElement(child)) this.writeBlock(child);
  }

  private writeBlock(element: XmlElement): void {
    if (isW(element, 'p')) this.writeParagraph(element);
    else if (isW(element, 'tbl')) this.writeTable(element);
    else if (isW(element, 'sdt')) {
      if (isContentsControl(element)) this.context.report.drop('table_of_contents');
      else this.writeBlocks(childW(element, 'sdtContent')?.children ?? []);
    } else if (isW(element, 'altChunk')) this.context.report.drop('embedded_content');
    else if (isW(element, 'sectPr', 'tblPr', 'trPr', 'tcPr', 'pPr')) return;
    else if (element.local === 'AlternateContent') this.writeBlocks(chooseAlternative(element));
    else if (isW(element, 'r', 'hyperlink')) this.writeParagraph({ ...element, children: [element] });
    else this.writeBlocks(element.children);
  }

  private writeParagraph(element: XmlElement): void {
    const properties = childW(element, 'pPr');
    const styleId = valueW(properties, 'pStyle');
    const kind = this.context.styles.getKind(styleId);
    const isContents = kind.kind === 'contents' || this.fields.state.isContents;
    if (isContents && !this.isInContents && kind.kind === 'contents')
      this.context.report.drop('table_of_contents');
    this.isInContents = isContents;
    if (kind.kind === 'contents') return;
    const extras = this.out.length;
    const markup = this.inline.write(element.children);
    this.fields.endParagraph();
    const list = kind.kind === 'text' ? this.readListItem(properties, styleId) : undefined;
    const mark = list?.isOrdered
      ? `<w:bookmarkStart w:id="0" w:name="item-${list.number}-${list.numerals}"/>`
      : '';
    // text boxes in the paragraph have been written before it
    const boxes = this.out.splice(extras);
    this.out.push('<w:p>', writeProperties(kind, list), mark, ...markup, '</w:p>', ...boxes);
  }

  private readListItem(properties: XmlElement | undefined, styleId: string | undefined) {
    const direct = childW(properties, 'numPr');
    const own = direct && readNumberingReference(direct);
    const styled = this.context.styles.getNumbering(styleId);
    const numId = own?.numId ?? styled?.numId;
    if (numId === undefined || numId === '0') return undefined;
    const item = this.context.numbering.next(numId, parseNumber(own?.level ?? styled?.level) ?? 0);
    return item && { ...item, level: Math.min(8, item.level + (own?.numId ? 0 : (styled?.depth ?? 0))) };
  }

  private writeTable(table: XmlElement): void {
    this.out.push('<w:tbl>');
    for (const row of findParts(table, 'tr')) {
      const isHeader = childW(row, 'trPr', 'tblHeader') !== undefined;
      this.out.push('<w:tr>', isHeader ? '<w:trPr><w:tblHeader/></w:trPr>' : '');
      for (const cell of findParts(row, 'tc')) this.writeCell(cell);
      this.out.push('</w:tr>');
    }
    this.out.push('</w:tbl>');
  }

  private writeCell(cell: XmlElement): void {
    const properties = childW(cell, 'tcPr');
    const span = parseNumber(valueW(properties, 'gridSpan')) ?? 1;
    const merge = childW(properties, 'vMerge');
    const isContinued = merge && (attribute(merge, 'val') ?? 'continue') === 'continue';
    this.out.push(
      '<w:tc><w:tcPr>',
      span > 1 && span <= 1_000 ? `<w:gridSpan w:val="${span}"/>` : '',
      merge ? `<w:vMerge w:val="${isContinued ? 'continue' : 'restart'}"/>` : '',
      '</w:tcPr>',
    );
    this.writeBlocks(cell.children);
    this.out.push('</w:tc>');
  }
}

/** Ids of the styles in the package that mammoth reads. */
function getStyleId(kind: ParagraphKind): string | undefined {
  if (kind.kind === 'heading') return `h${kind.level}`;
  return kind.kind === 'text' ? undefined : kind.kind;
}

function writeProperties(
  kind: ParagraphKind,
  list: { level: number; isOrdered: boolean } | undefined,
): string {
  const style = getStyleId(kind);
  const numbering =
    list && `<w:numPr><w:ilvl w:val="${list.level}"/><w:numId w:val="${list.isOrdered ? 1 : 2}"/></w:numPr>`;
  if (!style && !numbering) return '';
  const pStyle = style ? `<w:pStyle w:val="${escapeXml(style)}"/>` : '';
  return `<w:pPr>${pStyle}${numbering ?? ''}</w:pPr>`;
}

/** The rows of a table or the cells of a row, also those inside of content controls. */
function* findParts(parent: XmlElement, local: 'tr' | 'tc'): Generator<XmlElement> {
  for (const child of parent.children) {
    if (isW(child, local)) yield child;
    else if (isW(child, 'sdt', 'sdtContent', 'customXml', 'ins', 'moveTo')) yield* findParts(child, local);
  }
}

function isContentsControl(control: XmlElement): boolean {
  const gallery = valueW(control, 'sdtPr', 'docPartObj', 'docPartGallery');
  return gallery !== undefined && /table of contents/i.test(gallery);
}
