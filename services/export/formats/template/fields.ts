/** Sanitizes Word fields: those that fetch or run something are replaced by the text that they show. */
import { attribute, getText, isW, rewrite, W, walkElements, type XmlElement } from '#libs/opc';
import { reject } from './fault.ts';
import { computed, gap, isUnsafeInstruction } from './instruction.ts';

/** Maximum nesting of fields; Word's own limit is much lower. */
const MAX_DEPTH = 64;

const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006';

/** A field of several runs. `parts` are the elements to remove if the field is unsafe. */
type Field = { instruction: string; parts: XmlElement[]; hasSeparator: boolean };

/**
 * Removes unsafe fields of a part, including those split over runs or built from nested fields. Marks tables
 * of contents for an update.
 */
export function sanitizeFields(root: XmlElement, warn: (text: string) => void): void {
  const removed = new Set<XmlElement>();
  for (const field of findComplexFields(root)) {
    if (!isUnsafeInstruction(field.instruction)) {
      if (/^\s*TOC\b/i.test(field.instruction)) markDirty(field);
      continue;
    }
    for (const part of field.parts) removed.add(part);
    warn(createWarning(field.instruction));
  }
  rewrite(root, (element) => {
    if (removed.has(element)) return [];
    if (!isW(element, 'fldSimple')) return [element];
    const instruction = attribute(element, 'instr') ?? '';
    if (!isUnsafeInstruction(instruction)) return [element];
    warn(createWarning(instruction));
    return element.children;
  });
}

/** Finds every field of begin, instruction, separator and end, including those without an end. */
function findComplexFields(root: XmlElement): Field[] {
  const open: Field[] = [];
  const all: Field[] = [];
  for (const { element } of walkElements(root)) {
    if (isW(element, 'fldChar')) {
      readFieldChar(element, open, all);
      continue;
    }
    const field = open.at(-1);
    if (field && !field.hasSeparator) field.instruction += toInstruction(element);
    if (isW(element, 'instrText', 'delInstrText')) {
      for (const enclosing of open) if (!enclosing.hasSeparator) enclosing.parts.push(element);
    } else if (isW(element, 't')) {
      // the text that an inner field shows is part of the outer field's instruction
      const outer = open.findLast(({ hasSeparator }) => !hasSeparator);
      if (outer !== field) outer?.parts.push(element);
    }
  }
  return all;
}

/** Returns what an element between the begin and the separator of a field adds to the instruction. */
function toInstruction(element: XmlElement): string {
  if (isW(element, 'instrText', 't')) return getText(element);
  if (isW(element, 'p', 'tab', 'ptab', 'br', 'cr')) return gap;
  // deleted text, a symbol, bound or alternative content: the text depends on the program
  const isComputed =
    isW(element, 'fldSimple', 'sdt', 'sym', 'ruby', 'delInstrText', 'delText') ||
    (element.uri === COMPATIBILITY && /^(Choice|Fallback)$/.test(element.local));
  return isComputed ? computed : '';
}

function readFieldChar(element: XmlElement, open: Field[], all: Field[]): void {
  const kind = attribute(element, 'fldCharType');
  if (kind === 'begin') {
    const parent = open.at(-1);
    if (parent && !parent.hasSeparator) parent.instruction += computed;
    const field = { instruction: '', parts: [], hasSeparator: false };
    open.push(field);
    if (open.length > MAX_DEPTH)
      reject('fields_too_deep', `The fields of the template are nested deeper than ${MAX_DEPTH} levels.`);
    all.push(field);
  }
  for (const enclosing of open) if (!enclosing.hasSeparator) enclosing.parts.push(element);
  const field = open.at(-1);
  if (!field) return;
  if (kind === 'separate') field.hasSeparator = true;
  if (kind === 'end') {
    if (field.hasSeparator) field.parts.push(element);
    open.pop();
  }
}

function createWarning(instruction: string): string {
  const word = /^\s*([A-Za-z]{2,20})\b/.exec(instruction)?.[1]?.toUpperCase() ?? 'nested';
  return `A field that reaches outside the file (${word}) was removed; its text stays.`;
}

/** Marks a field as dirty: Word updates it, and so its page numbers, when the file is opened. */
function markDirty(field: Field): void {
  const [begin] = field.parts;
  if (!begin || attribute(begin, 'dirty') !== undefined) return;
  const prefix = begin.name.slice(0, begin.name.indexOf(':') + 1);
  begin.attributes.push({ name: `${prefix}dirty`, uri: W, local: 'dirty', value: 'true' });
}
