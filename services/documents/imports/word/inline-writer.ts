/** Writes the runs of paragraphs as new, minimal WordprocessingML. */
import {
  attribute,
  childW,
  escapeXml,
  isElement,
  isW,
  R,
  walkElements,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { safeHref } from '#libs/rich-text';
import type { ReportCollector } from '../report.ts';
import { type FieldReader, readTarget } from './fields.ts';
import type { WordNumbering } from './word-numbering.ts';
import type { TextPart, WordParts } from './word-package.ts';
import { readPictures, type WordPicture } from './word-pictures.ts';
import { type RunFormat, readRunFormat, type WordStyles } from './word-styles.ts';

/** What all parts of one file share. */
export interface WordContext {
  parts: WordParts;
  styles: WordStyles;
  numbering: WordNumbering;
  report: ReportCollector;
  pictures: WordPicture[];
  /** The targets of links; their ids are `link0`, `link1`, … */
  links: Map<string, string>;
  /** The notes that the text refers to. */
  notes: { type: 'footnote' | 'endnote'; id: string }[];
}

interface InlineOptions {
  fields: FieldReader;
  /** Notes have no notes. */
  isNote: boolean;
  /** Writes the blocks of a text box. */
  blocks(children: readonly XmlNode[]): void;
}

/** Elements whose content is text of the paragraph. */
const groups = [
  ...['smartTag', 'customXml', 'ins', 'moveTo', 'sdtContent', 'fldSimple', 'dir', 'bdo', 'ruby', 'rubyBase'],
];

/** Writes the content of the paragraphs of one part. */
export class InlineWriter {
  private readonly context: WordContext;
  private readonly part: TextPart;
  private readonly options: InlineOptions;
  private out: string[] = [];

  constructor(context: WordContext, part: TextPart, options: InlineOptions) {
    this.context = context;
    this.part = part;
    this.options = options;
  }

  /** Returns the markup of a paragraph's content. */
  write(children: readonly XmlNode[]): string[] {
    const outer = this.out;
    this.out = [];
    this.writeAll(children, undefined);
    const markup = this.out;
    this.out = outer;
    return markup;
  }

  private writeAll(children: readonly XmlNode[], href: string | undefined): void {
    for (const child of children) if (isElement(child)) this.writeElement(child, href);
  }

  private writeElement(element: XmlElement, href: string | undefined): void {
    if (isW(element, 'r')) this.writeRun(element, href);
    else if (isW(element, 'hyperlink')) this.writeAll(element.children, this.readLink(element) ?? href);
    else if (isW(element, 'fldSimple'))
      this.writeAll(element.children, readTarget(attribute(element, 'instr') ?? '') ?? href);
    else if (isW(element, 'sdt')) this.writeControl(element, href);
    else if (isW(element, ...groups)) this.writeAll(element.children, href);
    else if (element.local === 'AlternateContent') this.writeAll(chooseAlternative(element), href);
    else if (element.local === 'oMath' || element.local === 'oMathPara')
      this.writeText(getMath(element), {}, href);
  }

  private readLink(element: XmlElement): string | undefined {
    const id = attribute(element, 'id', R);
    const target = id === undefined ? undefined : this.part.relationships.get(id)?.target;
    const href = safeHref(target);
    if (target !== undefined && href === undefined && !target.startsWith('#'))
      this.context.report.drop('unsafe_link');
    return href;
  }

  private writeControl(element: XmlElement, href: string | undefined): void {
    const properties = childW(element, 'sdtPr');
    const checkbox = properties?.children.find((child) => isElement(child) && child.local === 'checkbox');
    if (checkbox && isElement(checkbox)) this.writeCheckbox(isChecked(checkbox));
    else if (!childW(properties, 'showingPlcHdr')) this.writeAll(element.children, href);
  }

  private writeCheckbox(checked: boolean): void {
    this.out.push(
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked w:val="${checked ? 1 : 0}"/></w:checkBox></w:ffData></w:fldChar></w:r>`,
      '<w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>',
    );
  }

  private writeRun(run: XmlElement, href: string | undefined): void {
    const properties = childW(run, 'rPr');
    const style = attribute(childW(properties, 'rStyle'), 'val');
    const format = { ...this.context.styles.getRunFormat(style), ...readRunFormat(properties) };
    const isHighlighted = (attribute(childW(properties, 'highlight'), 'val') ?? 'none') !== 'none';
    if (format.vanish) {
      this.context.report.drop('hidden_text');
      return;
    }
    for (const child of run.children)
      if (isElement(child)) this.writeRunChild(child, format, isHighlighted, href);
  }

  private writeRunChild(
    child: XmlElement,
    format: RunFormat,
    isHighlighted: boolean,
    href: string | undefined,
  ): void {
    const { fields } = this.options;
    if (isW(child, 'fldChar')) {
      const { checkbox, contents } = fields.read(child);
      if (checkbox !== undefined) this.writeCheckbox(checkbox);
      if (contents) this.context.report.drop('table_of_contents');
    } else if (isW(child, 'instrText')) fields.addInstruction(getText(child));
    else if (fields.state.isCode || fields.state.isContents) return;
    else if (isW(child, 'drawing', 'pict', 'object')) this.writeDrawing(child, href);
    else if (child.local === 'AlternateContent') {
      for (const each of chooseAlternative(child))
        if (isElement(each)) this.writeRunChild(each, format, isHighlighted, href);
    } else if (isW(child, 'footnoteReference', 'endnoteReference')) this.writeNote(child);
    else if (isW(child, 'ruby')) this.writeAll(child.children, href);
    else {
      const content = getRunContent(child);
      if (content !== '') this.writeRunContent(content, format, isHighlighted, href);
    }
  }

  private writeText(text: string, format: RunFormat, href: string | undefined): void {
    if (text !== '') this.writeRunContent(`<w:t>${escapeXml(text)}</w:t>`, format, false, href);
  }

  private writeRunContent(
    content: string,
    format: RunFormat,
    isHighlighted: boolean,
    href: string | undefined,
  ): void {
    const target = href ?? this.options.fields.state.href;
    // links are underlined anyway
    const own = target === undefined ? format : { ...format, u: false };
    const run = `<w:r>${writeFormat(own, isHighlighted)}${content}</w:r>`;
    if (target === undefined) this.out.push(run);
    else this.out.push(`<w:hyperlink r:id="${this.addLink(target)}">${run}</w:hyperlink>`);
  }

  private addLink(href: string): string {
    const { links } = this.context;
    const known = links.get(href) ?? `link${links.size}`;
    links.set(href, known);
    return known;
  }

  private writeDrawing(drawing: XmlElement, href: string | undefined): void {
    const boxes = [...findTextBoxes(drawing)];
    const pictures = boxes.length > 0 ? [] : readPictures(drawing, this.part, this.context.parts);
    for (const picture of pictures) {
      const at = this.context.pictures.push(picture) - 1;
      this.writeRunContent(writePicture(at), {}, false, href);
    }
    for (const box of boxes) this.options.blocks(box.children);
    if (boxes.length + pictures.length === 0) this.context.report.drop('embedded_content');
  }

  private writeNote(reference: XmlElement): void {
    if (this.options.isNote) return;
    const type = reference.local === 'footnoteReference' ? 'footnote' : 'endnote';
    this.context.notes.push({ type, id: attribute(reference, 'id') ?? '' });
    // one note can be referred to twice, so each reference gets its own note
    this.out.push(`<w:r><w:footnoteReference w:id="${this.context.notes.length}"/></w:r>`);
  }
}

function writeFormat({ b, i, u, strike, vertAlign }: RunFormat, isHighlighted: boolean): string {
  const format = [
    b && '<w:b/>',
    i && '<w:i/>',
    strike && '<w:strike/>',
    u && '<w:u w:val="single"/>',
    isHighlighted && '<w:highlight w:val="yellow"/>',
    vertAlign && /^(sub|super)script$/.test(vertAlign) && `<w:vertAlign w:val="${vertAlign}"/>`,
  ].filter(Boolean);
  return format.length > 0 ? `<w:rPr>${format.join('')}</w:rPr>` : '';
}

/** The picture's index is its alternative text for mammoth; no picture is in the package that it reads. */
function writePicture(at: number): string {
  return `<w:drawing><wp:inline><wp:docPr id="1" name="" descr="${at}"/><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="picture"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`;
}

function getRunContent(child: XmlElement): string {
  if (isW(child, 't')) return `<w:t>${escapeXml(getText(child))}</w:t>`;
  if (isW(child, 'tab', 'ptab')) return '<w:tab/>';
  if (isW(child, 'cr')) return '<w:br/>';
  if (isW(child, 'br'))
    return (attribute(child, 'type') ?? 'textWrapping') === 'textWrapping' ? '<w:br/>' : '';
  if (isW(child, 'noBreakHyphen')) return '<w:t>\u2011</w:t>';
  if (!isW(child, 'sym')) return '';
  const [font, char] = [attribute(child, 'font') ?? '', attribute(child, 'char') ?? ''];
  return `<w:sym w:font="${escapeXml(font)}" w:char="${escapeXml(char)}"/>`;
}

function getText(element: XmlElement): string {
  return element.children.filter((child) => typeof child === 'string').join('');
}

/** The text of a formula, in order. */
function getMath(math: XmlElement): string {
  const texts = [...walkElements(math)].filter(({ element }) => element.local === 't');
  return texts.map(({ element }) => getText(element)).join('');
}

function isChecked(checkbox: XmlElement): boolean {
  const checked = checkbox.children.find((child) => isElement(child) && child.local === 'checked');
  if (!checked || !isElement(checked)) return false;
  return checked.attributes.some(({ local, value }) => local === 'val' && /^(1|true|on)$/.test(value));
}

function* findTextBoxes(drawing: XmlElement): Generator<XmlElement> {
  for (const child of drawing.children) {
    if (isW(child, 'txbxContent')) yield child;
    else if (isElement(child)) yield* findTextBoxes(child);
  }
}

/** The content of `mc:AlternateContent` for programs that know no extensions. */
export function chooseAlternative(element: XmlElement): readonly XmlNode[] {
  const choices = element.children.filter(isElement);
  return (choices.find(({ local }) => local === 'Fallback') ?? choices[0])?.children ?? [];
}
