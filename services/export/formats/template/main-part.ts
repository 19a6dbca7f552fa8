/** Finds the document in a package and says no to what is not a plain .docx. */
import { reject } from '../opc/fault.ts';
import { getContentType, getRelationships, type Package } from '../opc/package.ts';
import { childW } from '../opc/tree.ts';
import type { XmlElement } from '../opc/xml.ts';

const MACROS = /macroEnabled|vbaProject|wordVbaData/i;
/** What the names of ISO/IEC 29500 Strict begin with; transitional files, which Word writes by default, have others. */
const STRICT = 'http://purl.oclc.org/ooxml/';
const OTHERS: [RegExp, string][] = [
  [/spreadsheetml/i, 'The file is an Excel workbook; upload a Word document (.docx).'],
  [/presentationml/i, 'The file is a PowerPoint presentation; upload a Word document (.docx).'],
];

/** The name of the main part, found through the officeDocument relationship. */
export function findMainPart(pack: Package): string {
  const relationship = getRelationships(pack, '').find(({ type }) => type === 'officeDocument');
  if (relationship?.uri.startsWith(STRICT)) rejectStrict();
  if (!relationship?.part)
    return reject('not_docx', 'The file has no document in it; save it in Word as "Word Document (.docx)".');
  const type = getContentType(pack, relationship.part) ?? '';
  rejectMacros(pack, type);
  for (const [pattern, message] of OTHERS) if (pattern.test(type)) reject('not_docx', message);
  if (/template\.main\+xml$/i.test(type))
    reject(
      'dotx',
      'The file is a Word template (.dotx); save it as "Word Document (.docx)" and upload that.',
    );
  if (!/wordprocessingml\.document\.main\+xml$/i.test(type))
    reject('not_docx', 'The file is not a Word document; upload a .docx file.');
  return relationship.part;
}

/** The body of the document. */
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

/** Every part that something points to has a content type; Word calls a file without one damaged. */
export function checkTypes(pack: Package): void {
  for (const relationships of pack.relationships.values())
    for (const { part } of relationships)
      if (part && !getContentType(pack, part))
        reject(
          'missing_type',
          `The part ${part.slice(0, 120)} has no content type; open the file in Word and save it again as .docx.`,
        );
}

function rejectMacros(pack: Package, type: string): void {
  const types = pack.types.children.some(
    (child) =>
      typeof child === 'object' &&
      'attributes' in child &&
      child.attributes.some(({ value }) => MACROS.test(value)),
  );
  const parts = [...pack.parts.keys()].some((name) => MACROS.test(name));
  const related = [...pack.relationships.values()].flat().some(({ uri }) => MACROS.test(uri));
  if (types || parts || related || MACROS.test(type))
    reject('macros', 'The file contains macros; save it in Word as "Word Document (.docx)" without macros.');
}
