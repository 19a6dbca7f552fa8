/** Reads the runs of paragraphs into inline content of an HTML tree. */
import { attribute, childW, isElement, isOn, isW, R, valueW, type XmlElement, type XmlNode } from '#libs/opc';
import { createHastElement, safeHref } from '#libs/rich-text';
import type { ReportCollector } from '../report.ts';
import type { Content } from './block-tree.ts';
import { type FieldReader, isContentsField, readTarget, withFragment } from './fields.ts';
import { toFormulaText } from './formula.ts';
import { isPageEnd, readRunContent, toText, wrap } from './run-content.ts';
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
  /** Whether a page, column or formula ends here. It separates text, but begins and ends no paragraph. */
  private needsBreak = false;
  /** The last text, if the content ends with it. */
  private lastText = '';
  /** Whether the style of the paragraph hides its text. */
  private isHidden = false;

  constructor(context: WordContext, part: TextPart, options: InlineOptions) {
    this.context = context;
    this.part = part;
    this.options = options;
  }

  /** Returns the content of a paragraph. */
  read(children: readonly XmlNode[]): InlineContent {
    this.content = [];
    this.textBoxes = [];
    this.needsBreak = false;
    this.lastText = '';
    const properties = children.find((child) => isW(child, 'pPr'));
    this.isHidden = this.context.styles.isHidden(valueW(properties, 'pStyle'));
    this.readAll(children, undefined);
    return { content: this.content, textBoxes: this.textBoxes };
  }

  private readAll(children: readonly XmlNode[], href: string | undefined): void {
    for (const child of children) if (isElement(child)) this.readElement(child, href);
  }

  private readElement(element: XmlElement, href: string | undefined): void {
    if (this.isHidden && element.local === 'oMath') this.context.report.drop('hidden_text');
    else if (isW(element, 'r')) this.readRun(element, href);
    else if (isW(element, 'hyperlink')) this.readAll(element.children, this.readLink(element) ?? href);
    else if (isW(element, 'fldSimple')) this.readSimpleField(element, href);
    else if (isW(element, 'sdt')) this.readControl(element, href);
    else if (isW(element, ...groups)) this.readAll(element.children, href);
    else if (element.local === 'AlternateContent') this.readAll(chooseAlternative(element), href);
    else if (element.local === 'oMathPara') this.readFormulas(element, href);
    else if (element.local === 'oMath')
      this.addContent(toText(toFormulaText(element, this.lastText)), {}, href);
  }

  private readSimpleField(element: XmlElement, href: string | undefined): void {
    const target = readTarget(attribute(element, 'instr') ?? '');
    if (!isContentsField(element)) this.readAll(element.children, target ?? href);
    else {
      const { fields } = this.options;
      if (!fields.state.isCode && !fields.state.isContents) this.context.report.drop('table_of_contents');
      fields.skip(element);
    }
  }

  private readLink(element: XmlElement): string | undefined {
    const id = attribute(element, 'id', R);
    const target = id === undefined ? undefined : this.part.relationships.get(id)?.target;
    const href = withFragment(safeHref(target), attribute(element, 'anchor'));
    if (target !== undefined && href === undefined && !target.startsWith('#'))
      this.context.report.drop('unsafe_link');
    return href;
  }

  /** Reads a paragraph of formulas and puts a line break after each. */
  private readFormulas({ children }: XmlElement, href: string | undefined): void {
    for (const formula of children.filter(isElement)) {
      this.readElement(formula, href);
      this.needsBreak = true;
    }
  }

  private readControl(element: XmlElement, href: string | undefined): void {
    const properties = childW(element, 'sdtPr');
    const checkbox = properties?.children.find((child) => isElement(child) && child.local === 'checkbox');
    if (checkbox && isElement(checkbox)) this.addCheckbox(isChecked(checkbox));
    else this.readAll(element.children, href);
  }

  private addCheckbox(checked: boolean): void {
    this.push(createHastElement('input', { type: 'checkbox', checked }));
  }

  private readRun(run: XmlElement, href: string | undefined): void {
    const properties = childW(run, 'rPr');
    const style = valueW(properties, 'rStyle');
    const highlight = (attribute(childW(properties, 'highlight'), 'val') ?? 'none') !== 'none';
    const styled = this.context.styles.getRunFormat(style);
    // a character style changes what the paragraph style says (ECMA-376 part 1, 17.7.3)
    const vanish = (styled.vanish ?? false) !== this.isHidden;
    const format = { ...styled, vanish, ...readRunFormat(properties), highlight };
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
      const { checkbox, text, contents } = fields.read(child);
      if (checkbox !== undefined) this.addCheckbox(checkbox);
      const isShown = !fields.state.isCode && !fields.state.isContents;
      if (text !== undefined && isShown) this.addContent(toText(text), format, href);
      if (contents) this.context.report.drop('table_of_contents');
    } else if (isW(child, 'instrText')) fields.addInstruction(child);
    else if (fields.state.isCode || fields.state.isContents) return;
    else if (isW(child, 'drawing', 'pict', 'object')) this.addDrawing(child, href);
    else if (child.local === 'AlternateContent') {
      for (const each of chooseAlternative(child)) if (isElement(each)) this.readRunChild(each, format, href);
    } else if (isW(child, 'footnoteReference', 'endnoteReference')) this.addNote(child);
    else if (isW(child, 'ruby')) this.readAll(child.children, href);
    else if (isPageEnd(child)) this.needsBreak = true;
    else {
      const content = readRunContent(child, format.font ?? '');
      if (content) this.addContent(content, format, href);
    }
  }

  private push(content: Content[number]): void {
    if (this.needsBreak && this.content.length > 0) this.content.push(createHastElement('br'));
    this.needsBreak = false;
    this.content.push(content);
  }

  private addContent(content: Content[number], format: RunFormat, href: string | undefined): void {
    if (content.type === 'text' && content.value === '') return;
    this.lastText = content.type === 'text' ? content.value : '';
    const target = href ?? this.options.fields.state.href;
    // links are underlined anyway
    const own = target === undefined ? format : { ...format, u: false };
    const inner = wrap(content, own);
    this.push(target === undefined ? inner : createHastElement('a', { href: target }, [inner]));
  }

  private addDrawing(drawing: XmlElement, href: string | undefined): void {
    const boxes = findTextBoxes(drawing);
    const pictures = readPictures(drawing, this.part, this.context.parts);
    for (const picture of pictures) this.addContent(this.toImage(picture), {}, href);
    this.textBoxes.push(...boxes);
    if (boxes.length + pictures.length === 0) this.context.report.drop('embedded_content');
  }

  private toImage(picture: WordPicture): Content[number] {
    const { link, alt, width, height } = picture;
    if (link !== undefined) return createHastElement('img', { src: link, alt, width, height });
    return createHastElement('img', { src: `picture:${this.context.pictures.push(picture) - 1}` });
  }

  private addNote(reference: XmlElement): void {
    if (this.options.isNote) return;
    const type = reference.local === 'footnoteReference' ? 'footnote' : 'endnote';
    // one note can be referred to twice, so each reference gets its own note
    const number = this.context.notes.push({ type, id: attribute(reference, 'id') ?? '' });
    const link = createHastElement('a', { href: `#footnote-${number}` }, [toText(`[${number}]`)]);
    this.push(createHastElement('sup', {}, [link]));
  }
}

function isChecked(checkbox: XmlElement): boolean {
  return isOn(checkbox.children.filter(isElement).find(({ local }) => local === 'checked'));
}

function findTextBoxes(drawing: XmlElement): XmlElement[] {
  return drawing.children.filter(isElement).flatMap((child) => {
    return isW(child, 'txbxContent') ? [child] : findTextBoxes(child);
  });
}

/** The content of `mc:AlternateContent` for programs that know no extensions, or else the first other one. */
export function chooseAlternative(element: XmlElement): readonly XmlNode[] {
  const choices = element.children.filter(isElement);
  const fallback = choices.find(({ local }) => local === 'Fallback');
  const choice = choices.find(({ local }) => local === 'Choice');
  return (fallback?.children.some(isElement) ? fallback : choice)?.children ?? [];
}
