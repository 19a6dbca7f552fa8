/** Reads the parts of an uploaded Word file that an import needs, and checks them. */
import {
  createXmlBudget,
  findMainPart,
  findRelatedPart,
  getBody,
  getContentType,
  getRelationships,
  hasPart,
  type Package,
  type PackageFaultCode,
  PackageRejected,
  type Parts,
  parseXml,
  type Relationship,
  readPackage,
  TYPES_PART,
  type UnpackLimits,
  unpack,
  type XmlElement,
} from '#libs/opc';
import { type ImportReason, rejectImport, rejectSize } from '../import-fault.ts';

const MIB = 1024 * 1024;

/** The limits of a Word file. */
const wordLimits: UnpackLimits = {
  fileBytes: 20 * MIB,
  entries: 5_000,
  unpackedBytes: 100 * MIB,
  ratio: 100,
  ratioFromBytes: MIB,
};

/** Trees of a large manual. The worker has memory for them, and its time is limited. */
const xmlLimits = { nodes: 1_000_000, bytes: 48 * MIB };

/** A part with text, and what it refers to by id. */
export interface TextPart {
  root: XmlElement;
  relationships: ReadonlyMap<string, Relationship>;
}

/** The checked parts of a Word file. */
export interface WordParts {
  body: XmlElement;
  main: TextPart;
  styles: XmlElement | undefined;
  numbering: XmlElement | undefined;
  footnotes: TextPart | undefined;
  endnotes: TextPart | undefined;
  /** How many parts of each kind the import leaves out. */
  headers: number;
  footers: number;
  comments: number;
  /** The bytes and the content type of a part. */
  getFile(name: string): { bytes: Uint8Array; type: string } | undefined;
}

/** Whether an archive is a Word file. One whose directory cannot be read is one if it contains the name of a part. */
export async function isWordPackage(file: Uint8Array): Promise<boolean> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  return (await hasPart(file, TYPES_PART, wordLimits)) ?? bytes.includes(TYPES_PART);
}

/** Unpacks and checks a file. Rejects bombs, macros, encryption, DOCTYPE and damage. Errors: `ImportRejected`. */
export async function readWordParts(file: Uint8Array): Promise<WordParts> {
  try {
    return toWordParts(await unpack(file, wordLimits));
  } catch (error) {
    if (error instanceof PackageRejected) return rejectPackage(error.fault.code, error.message);
    throw error;
  }
}

/** Rejects a file for a fault of its package. Errors: always `ImportRejected`. */
export function rejectPackage(code: PackageFaultCode, message: string): never {
  if (code === 'too_large') return rejectSize('file_too_large', message);
  if (code === 'xml_too_large') return rejectSize('import_too_large', message);
  return rejectImport(reasons[code] ?? 'malformed', message);
}

const reasons: Partial<Record<PackageFaultCode, ImportReason>> = {
  ...{ bomb: 'bomb', unpacked_too_large: 'bomb', too_many_parts: 'bomb', macros: 'macros' },
  ...{ password_protected: 'password_protected', encrypted: 'password_protected', legacy_doc: 'legacy_doc' },
  ...{ not_docx: 'unknown_format', dotx: 'unknown_format', strict_ooxml: 'unknown_format' },
};

function toWordParts(parts: Parts): WordParts {
  const pkg = readPackage(parts, { ...createXmlBudget(), ...xmlLimits });
  const mainPart = findMainPart(pkg);
  const main = readTextPart(pkg, mainPart);
  const related = (type: string) => findRelatedPart(pkg, mainPart, type);
  const count = (type: string) => getRelationships(pkg, mainPart).filter((each) => each.type === type).length;
  const readRelated = (type: string) => {
    const name = related(type);
    return name === undefined ? undefined : readTextPart(pkg, name);
  };
  const comments = readRelated('comments')?.root.children.filter((child) => typeof child === 'object');
  return {
    body: getBody(main.root),
    main,
    styles: readRelated('styles')?.root,
    numbering: readRelated('numbering')?.root,
    footnotes: readRelated('footnotes'),
    endnotes: readRelated('endnotes'),
    headers: count('header'),
    footers: count('footer'),
    comments: comments?.length ?? 0,
    getFile(name) {
      const bytes = parts.get(name);
      return bytes && { bytes, type: getContentType(pkg, name) ?? '' };
    },
  };
}

function readTextPart(pkg: Package, name: string): TextPart {
  const bytes = pkg.parts.get(name) ?? new Uint8Array();
  const relationships = new Map(getRelationships(pkg, name).map((each) => [each.id, each]));
  return { root: parseXml(bytes, name, pkg.budget), relationships };
}
