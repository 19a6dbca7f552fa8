/** Finds the main part of a package and rejects anything but a plain .docx file. */
import { reject } from './fault.ts';
import {
  findRelatedPart,
  getContentType,
  getRelationships,
  type Package,
  rejectMissingPart,
} from './package.ts';
import { childW } from './tree.ts';
import type { XmlElement } from './xml.ts';

const MACROS = /macroEnabled|vbaProject|wordVbaData/i;
/** The prefix of the namespaces of ISO/IEC 29500 Strict; Word writes transitional files by default. */
const STRICT = 'http://purl.oclc.org/ooxml/';
const OTHER_TYPES: [RegExp, string][] = [
  [/spreadsheetml/i, 'The file is an Excel workbook; upload a Word document (.docx).'],
  [/presentationml/i, 'The file is a PowerPoint presentation; upload a Word document (.docx).'],
];

/** Finds the name of the main part through the officeDocument relationship. Errors: `PackageRejected`. */
export function findMainPart(pkg: Package): string {
  const relationship = getRelationships(pkg, '').find(({ type }) => type === 'officeDocument');
  if (relationship?.uri.startsWith(STRICT)) rejectStrict();
  const part = findRelatedPart(pkg, '', 'officeDocument');
  if (!part)
    return reject('not_docx', 'The file contains no document; save it in Word as "Word Document (.docx)".');
  const type = getContentType(pkg, part) ?? '';
  rejectMacros(pkg, type);
  for (const [pattern, message] of OTHER_TYPES) if (pattern.test(type)) reject('not_docx', message);
  if (/template\.main\+xml$/i.test(type))
    reject(
      'dotx',
      'The file is a Word template (.dotx); save it as "Word Document (.docx)" and upload that.',
    );
  if (!/wordprocessingml\.document\.main\+xml$/i.test(type))
    reject('not_docx', 'The file is not a Word document; upload a .docx file.');
  return part;
}

/** Returns the body of the document. Errors: `PackageRejected`. */
export function getBody(document: XmlElement): XmlElement {
  if (document.uri.startsWith(STRICT)) rejectStrict();
  return (
    childW(document, 'body') ?? reject('not_docx', 'The file is not a Word document; upload a .docx file.')
  );
}

function rejectStrict(): never {
  return reject(
    'strict_ooxml',
    'The file is saved as "Strict Open XML Document"; save it as "Word Document (.docx)".',
  );
}

/** Rejects a package that refers to a missing part or to one without content type: Word treats it as damaged. */
export function checkReferences(pkg: Package): void {
  for (const relationship of [...pkg.relationships.values()].flat()) {
    const { type, target, external, part } = relationship;
    const isBookmark = type === 'hyperlink' && target.startsWith('#');
    if (part === undefined && !external && !isBookmark) rejectMissingPart(relationship);
    if (part !== undefined && !getContentType(pkg, part))
      reject(
        'missing_type',
        `The part ${part.slice(0, 120)} has no content type; open the file in Word and save it again as .docx.`,
      );
  }
}

function rejectMacros(pkg: Package, type: string): void {
  const types = pkg.types.children.some(
    (child) =>
      typeof child === 'object' &&
      'attributes' in child &&
      child.attributes.some(({ value }) => MACROS.test(value)),
  );
  const parts = [...pkg.parts.keys()].some((name) => MACROS.test(name));
  const related = [...pkg.relationships.values()].flat().some(({ uri }) => MACROS.test(uri));
  if (types || parts || related || MACROS.test(type))
    reject('macros', 'The file contains macros; save it in Word as "Word Document (.docx)" without macros.');
}
