/** Follows the fields of a Word part, which can extend over several runs: links, checkboxes, tables of contents. */
import { attribute, childW, isW, walkElements, type XmlElement } from '#libs/opc';
import { safeHref } from '#libs/rich-text';
import { rejectImport } from '../import-fault.ts';
import { isOn } from './on-off.ts';

/** What the text of a run belongs to. */
export type FieldState = { isCode: boolean; isContents: boolean; href: string | undefined };

interface Field {
  instruction: string;
  hasSeparator: boolean;
  checkbox: XmlElement | undefined;
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

  /** Reads `w:fldChar`. Returns what the field shows: a checkbox, or the beginning of a table of contents. */
  read(element: XmlElement): { checkbox?: boolean; contents?: true } {
    const kind = attribute(element, 'fldCharType');
    if (kind === 'begin') {
      const checkbox = childW(element, 'ffData', 'checkBox');
      this.open.push({ instruction: '', hasSeparator: false, checkbox });
      if (this.open.length > maxOpen)
        rejectImport('malformed', `The fields of the file are nested deeper than ${maxOpen} levels.`);
    }
    const field = this.open.at(-1);
    if (!field) return {};
    if (kind === 'separate') field.hasSeparator = true;
    if (kind === 'end') this.open.pop();
    this.update();
    if (kind === 'end' && /^\s*FORMCHECKBOX/i.test(field.instruction) && field.checkbox)
      return { checkbox: isChecked(field.checkbox) };
    return kind === 'separate' && isContents(field) ? { contents: true } : {};
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
    this.open = this.open.filter((field) => !isContents(field));
    this.update();
  }

  private update(): void {
    if (this.open.length === 0) {
      this.current = outside;
      return;
    }
    this.current = {
      isCode: this.open.some(({ hasSeparator }) => !hasSeparator),
      isContents: this.open.some(isContents),
      href: this.open
        .map(({ instruction }) => readTarget(instruction))
        .findLast((href) => href !== undefined),
    };
  }
}

/** The safe target of a HYPERLINK field; undefined for a place in the document. */
export function readTarget(instruction: string): string | undefined {
  const match = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\\\s"]\S*))/i.exec(instruction);
  return match ? safeHref(match[1] ?? match[2]) : undefined;
}

function isContents({ instruction, hasSeparator }: Field): boolean {
  return hasSeparator && /^\s*TO[AC]\b/i.test(instruction);
}

function isChecked(checkbox: XmlElement): boolean {
  return isOn(childW(checkbox, 'checked') ?? childW(checkbox, 'default'));
}
