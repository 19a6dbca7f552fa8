/** Follows the fields of a Word part, which can extend over several runs: links, checkboxes, tables of contents. */
import { attribute, childW, isOn, isW, walkElements, type XmlElement } from '#libs/opc';
import { safeHref } from '#libs/rich-text';
import { rejectImport } from '../import-fault.ts';
import { getFieldText } from './field-text.ts';

/** What the text of a run belongs to. */
export type FieldState = { isCode: boolean; isContents: boolean; href: string | undefined };

interface Field {
  instruction: string;
  hasSeparator: boolean;
  /** Whether it is a table of contents, known from its separator on. */
  isContents: boolean;
  /** The target of a link, known from its separator on. */
  href: string | undefined;
  /** The data of a control of a form. */
  form: XmlElement | undefined;
}

/** The deepest nesting of fields; Word's own limit is much lower. */
const maxOpen = 64;

const outside: FieldState = { isCode: false, isContents: false, href: undefined };

/** Follows the fields of one part. */
export class FieldReader {
  private open: Field[] = [];
  private current = outside;

  /** What the next text belongs to. */
  get state(): FieldState {
    return this.current;
  }

  /** Reads `w:instrText`. */
  addInstruction({ children }: XmlElement): void {
    const field = this.open.at(-1);
    if (!field || field.hasSeparator) return;
    field.instruction += children.filter((child) => typeof child === 'string').join('');
  }

  /** Follows the fields in an element whose text is left out. */
  skip(parent: XmlElement): void {
    for (const { element } of walkElements(parent)) {
      if (isW(element, 'fldChar')) this.read(element);
      else if (isW(element, 'instrText')) this.addInstruction(element);
    }
  }

  /**
   * Reads `w:fldChar`. Returns what the field shows: a checkbox, the text of a field without a result, or the beginning
   * of a table of contents.
   */
  read(element: XmlElement): { checkbox?: boolean; text?: string; contents?: true } {
    const kind = attribute(element, 'fldCharType');
    if (kind === 'begin') {
      const form = childW(element, 'ffData');
      this.open.push({ instruction: '', hasSeparator: false, isContents: false, href: undefined, form });
      if (this.open.length > maxOpen)
        rejectImport('malformed', `The fields of the file are nested deeper than ${maxOpen} levels.`);
    }
    const field = this.open.at(-1);
    if (!field) return {};
    const isParsed = kind === 'separate' && !field.hasSeparator;
    if (isParsed) parse(field);
    if (kind === 'end') this.open.pop();
    this.update();
    if (kind === 'end') return readShown(field);
    return isParsed && field.isContents ? { contents: true } : {};
  }

  /** A field whose text has not begun at the end of its paragraph is damaged. */
  endParagraph(): void {
    if (!this.current.isCode) return;
    this.open = this.open.filter(({ hasSeparator }) => hasSeparator);
    this.update();
  }

  /** A table of contents that is still open at a heading is damaged. */
  endContents(): void {
    if (!this.current.isContents) return;
    this.open = this.open.filter(({ isContents }) => !isContents);
    this.update();
  }

  private update(): void {
    if (this.open.length === 0) {
      this.current = outside;
      return;
    }
    this.current = {
      isCode: this.open.some(({ hasSeparator }) => !hasSeparator),
      isContents: this.open.some(({ isContents }) => isContents),
      href: this.open.findLast(({ href }) => href !== undefined)?.href,
    };
  }
}

/** The safe target of a HYPERLINK field; undefined for a place in the document. */
export function readTarget(instruction: string): string | undefined {
  const match = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\\\s"]\S*))(.*)/is.exec(instruction);
  return match ? withFragment(safeHref(match[1] ?? match[2]), readPlace(match[3] ?? '')) : undefined;
}

/** The place in the target that the switch \\l names; other switches with their texts can precede it. */
function readPlace(switches: string): string | undefined {
  const match = /^(?:\s*\\[a-km-z](?:\s+"[^"]*")?)*\s*\\l\s+(?:"([^"]*)"|([^\s"]+))/i.exec(switches);
  return match?.[1] ?? match?.[2];
}

/** Adds a place in it to a web address, unless that names one. */
export function withFragment(href: string | undefined, place: string | undefined): string | undefined {
  if (href === undefined || !place || !href.startsWith('http')) return href;
  const url = new URL(href);
  url.hash ||= place;
  return url.href;
}

/** What a field shows at its end, besides its result. */
function readShown({ instruction, hasSeparator, form }: Field): { checkbox?: boolean; text?: string } {
  const checkbox = childW(form, 'checkBox');
  if (checkbox && /^\s*FORMCHECKBOX/i.test(instruction)) return { checkbox: isChecked(checkbox) };
  return hasSeparator ? {} : { text: getFieldText(instruction, form) };
}

/** Parses the instruction at the end of its code, once: an instruction can be as long as the file. */
function parse(field: Field): void {
  field.hasSeparator = true;
  field.isContents = isContents(field.instruction);
  field.href = readTarget(field.instruction);
}

/** Whether an element is a table of contents in a simple field. */
export function isContentsField(element: XmlElement): boolean {
  return isW(element, 'fldSimple') && isContents(attribute(element, 'instr') ?? '');
}

/** Whether the result of a field is a table of contents or of authorities. */
function isContents(instruction: string): boolean {
  return /^\s*TO[AC]\b/i.test(instruction);
}

function isChecked(checkbox: XmlElement): boolean {
  return isOn(childW(checkbox, 'checked') ?? childW(checkbox, 'default'));
}
