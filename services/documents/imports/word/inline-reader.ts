/** Reads the runs of paragraphs into inline content of an HTML tree. */
import { hex } from 'dingbat-to-unicode';
import { attribute, childW, isElement, isW, R, walkElements, type XmlElement, type XmlNode } from '#libs/opc';
import { createHastElement, safeHref } from '#libs/rich-text';
import type { ReportCollector } from '../report.ts';
import type { Content } from './block-tree.ts';
import { type FieldReader, readTarget } from './fields.ts';
import { isOn } from './on-off.ts';
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
  /** The notes that the text refers to. */
  notes: { type: 'footnote' | 'endnote'; id: string }[];
}

interface InlineOptions {
  fields: FieldReader;
  /** Notes have no notes. */
  isNote: boolean;
}

/** The content of a paragraph. The text boxes in it follow it. */
interface InlineContent {
  content: Content;
  textBoxes: XmlElement[];
}

/** Elements whose content is text of the paragraph. */
const groups = ['smartTag', 'customXml', 'ins', 'moveTo', 'sdtContent', 'dir', 'bdo', 'ruby', 'rubyBase'];

/** Reads the content of the paragraphs of one part. */
export class InlineReader {
  private readonly context: WordContext;
  private readonly part: TextPart;
  private readonly options: InlineOptions;
  private content: Content = [];
  private textBoxes: XmlElement[] = [];

  constructor(context: WordContext, part: TextPart, options: InlineOptions) {
    this.context = context;
    this.part = part;
    this.options = options;
  }

  /** Returns the content of a paragraph. */
  read(children: readonly XmlNode[]): InlineContent {
    this.content = [];
    this.textBoxes = [];
    this.readAll(children, undefined);
    return { content: this.content, textBoxes: this.textBoxes };
  }

  private readAll(children: readonly XmlNode[], href: string | undefined): void {
    for (const child of children) if (isElement(child)) this.readElement(child, href);
  }

  private readElement(element: XmlElement, href: string | undefined): void {
    if (isW(element, 'r')) this.readRun(element, href);
    else if (isW(element, 'hyperlink')) this.readAll(element.children, this.readLink(element) ?? href);
    else if (isW(element, 'fldSimple'))
      this.readAll(element.children, readTarget(attribute(element, 'instr') ?? '') ?? href);
    else if (isW(element, 'sdt')) this.readControl(element, href);
    else if (isW(element, ...groups)) this.readAll(element.children, href);
    else if (element.local === 'AlternateContent') this.readAll(chooseAlternative(element), href);
    else if (element.local === 'oMath' || element.local === 'oMathPara')
      this.addContent(toText(getMath(element)), {}, href);
  }

  private readLink(element: XmlElement): string | undefined {
    const id = attribute(element, 'id', R);
    const target = id === undefined ? undefined : this.part.relationships.get(id)?.target;
    const href = safeHref(target);
    if (target !== undefined && href === undefined && !target.startsWith('#'))
      this.context.report.drop('unsafe_link');
    return href;
  }

  private readControl(element: XmlElement, href: string | undefined): void {
    const properties = childW(element, 'sdtPr');
    const checkbox = properties?.children.find((child) => isElement(child) && child.local === 'checkbox');
    if (checkbox && isElement(checkbox)) this.addCheckbox(isChecked(checkbox));
    else this.readAll(element.children, href);
  }

  private addCheckbox(checked: boolean): void {
    this.content.push(createHastElement('input', { type: 'checkbox', checked }));
  }

  private readRun(run: XmlElement, href: string | undefined): void {
    const properties = childW(run, 'rPr');
    const style = attribute(childW(properties, 'rStyle'), 'val');
    const highlight = (attribute(childW(properties, 'highlight'), 'val') ?? 'none') !== 'none';
    const format = { ...this.context.styles.getRunFormat(style), ...readRunFormat(properties), highlight };
    if (format.vanish) {
      this.context.report.drop('hidden_text');
      this.options.fields.skip(run);
      return;
    }
    for (const child of run.children) if (isElement(child)) this.readRunChild(child, format, href);
  }

  private readRunChild(child: XmlElement, format: RunFormat, href: string | undefined): void {
    const { fields } = this.options;
    if (isW(child, 'fldChar')) {
      const { checkbox, contents } = fields.read(child);
      if (checkbox !== undefined) this.addCheckbox(checkbox);
      if (contents) this.context.report.drop('table_of_contents');
    } else if (isW(child, 'instrText')) fields.addInstruction(child);
    else if (fields.state.isCode || fields.state.isContents) return;
    else if (isW(child, 'drawing', 'pict', 'object')) this.addDrawing(child, href);
    else if (child.local === 'AlternateContent') {
      for (const each of chooseAlternative(child)) if (isElement(each)) this.readRunChild(each, format, href);
    } else if (isW(child, 'footnoteReference', 'endnoteReference')) this.addNote(child);
    else if (isW(child, 'ruby')) this.readAll(child.children, href);
    else {
      const content = readRunContent(child);
      if (content) this.addContent(content, format, href);
    }
  }

  private addContent(content: Content[number], format: RunFormat, href: string | undefined): void {
    if (content.type === 'text' && content.value === '') return;
    const target = href ?? this.options.fields.state.href;
    // links are underlined anyway
    const own = target === undefined ? format : { ...format, u: false };
    const inner = wrap(content, own);
    this.content.push(target === undefined ? inner : createHastElement('a', { href: target }, [inner]));
  }

  private addDrawing(drawing: XmlElement, href: string | undefined): void {
    const boxes = findTextBoxes(drawing);
    const pictures = boxes.length > 0 ? [] : readPictures(drawing, this.part, this.context.parts);
    for (const picture of pictures) {
      const at = this.context.pictures.push(picture) - 1;
      this.addContent(createHastElement('img', { src: `picture:${at}` }), {}, href);
    }
    this.textBoxes.push(...boxes);
    if (boxes.length + pictures.length === 0) this.context.report.drop('embedded_content');
  }

  private addNote(reference: XmlElement): void {
    if (this.options.isNote) return;
    const type = reference.local === 'footnoteReference' ? 'footnote' : 'endnote';
    // one note can be referred to twice, so each reference gets its own note
    const number = this.context.notes.push({ type, id: attribute(reference, 'id') ?? '' });
    const link = createHastElement('a', { href: `#footnote-${number}` }, [toText(`[${number}]`)]);
    this.content.push(createHastElement('sup', {}, [link]));
  }
}

function wrap(content: Content[number], format: RunFormat): Content[number] {
  const { b, i, u, strike, dstrike, highlight, vertAlign } = format;
  // from the innermost to the outermost
  const tags = [
    highlight && 'mark',
    (strike || dstrike) && 's',
    u && 'u',
    vertAlign === 'subscript' && 'sub',
    vertAlign === 'superscript' && 'sup',
    i && 'em',
    b && 'strong',
  ];
  return tags.reduce((inner, tag) => (tag ? createHastElement(tag, {}, [inner]) : inner), content);
}

/** The content of a child of a run; undefined if rich text cannot contain it. */
function readRunContent(child: XmlElement): Content[number] | undefined {
  if (isW(child, 't')) return toText(getText(child));
  if (isW(child, 'tab', 'ptab')) return toText('\t');
  if (isW(child, 'cr')) return createHastElement('br');
  if (isW(child, 'br'))
    return (attribute(child, 'type') ?? 'textWrapping') === 'textWrapping'
      ? createHastElement('br')
      : undefined;
  if (isW(child, 'noBreakHyphen')) return toText('\u2011');
  return isW(child, 'sym') ? toText(readSymbol(child)) : undefined;
}

/** The Unicode character of a symbol, or '' if it is unknown. Word adds F000 to the codes of symbol fonts. */
function readSymbol(symbol: XmlElement): string {
  const [font, code] = [attribute(symbol, 'font') ?? '', attribute(symbol, 'char') ?? ''];
  const found = hex(font, code) ?? (/^F0..$/i.test(code) ? hex(font, code.slice(2)) : undefined);
  return found?.string ?? '';
}

function toText(value: string): Content[number] {
  return { type: 'text', value };
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
  return isOn(checkbox.children.filter(isElement).find(({ local }) => local === 'checked'));
}

function findTextBoxes(drawing: XmlElement): XmlElement[] {
  return drawing.children.filter(isElement).flatMap((child) => {
    return isW(child, 'txbxContent') ? [child] : findTextBoxes(child);
  });
}

/** The content of `mc:AlternateContent` for programs that know no extensions. */
export function chooseAlternative(element: XmlElement): readonly XmlNode[] {
  const choices = element.children.filter(isElement);
  return (choices.find(({ local }) => local === 'Fallback') ?? choices[0])?.children ?? [];
}
