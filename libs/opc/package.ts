/** Reads and changes an OPC package (ECMA-376 part 2): parts with content types and relationships. */
import { reject } from './fault.ts';
import { attribute, elements, R } from './tree.ts';
import type { Parts } from './unpack.ts';
import { isElement, parseXml, type XmlBudget, type XmlElement } from './xml.ts';

export const TYPES_PART = '[Content_Types].xml';
const RELS_NS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const TYPES_NS = 'http://schemas.openxmlformats.org/package/2006/content-types';
/** The prefix of the type of the relationship to the properties of the file; other types have the prefix `R`. */
const METADATA_RELS = `${RELS_NS}/metadata`;
const RELS_TYPE = 'application/vnd.openxmlformats-package.relationships+xml';

/**
 * A relationship. `type` is the last segment of its type URI ("officeDocument", "image"); `part` is set if
 * the target is a part of the package.
 */
export type Relationship = {
  id: string;
  type: string;
  uri: string;
  target: string;
  external: boolean;
  part?: string;
};

/** A package; `relationships` are by source part, those of the package itself under the empty name. */
export type Package = {
  parts: Parts;
  types: XmlElement;
  relationships: Map<string, Relationship[]>;
  budget: XmlBudget;
  /** Content types by `/part name` and by file extension, both in lower case. */
  contentTypes: Map<string, string>;
};

/** Reads content types and relationships. Rejects a package without them. */
export function readPackage(parts: Parts, budget: XmlBudget): Package {
  const typesPart = parts.get(TYPES_PART);
  if (!typesPart || !parts.has('_rels/.rels'))
    return reject('not_docx', 'The file is a zip archive but not a Word document; upload a .docx file.');
  const types = parseXml(typesPart, TYPES_PART, budget);
  const relationships = new Map<string, Relationship[]>();
  // part names are case-insensitive (ECMA-376 part 2, 6.2.2.3)
  const names = new Map([...parts.keys()].map((name) => [name.toLowerCase(), name]));
  for (const [name, bytes] of parts) {
    const source = parseSourcePart(name);
    if (source === undefined) continue;
    const root = parseXml(bytes, name, budget);
    relationships.set(
      source,
      elements(root).map((element) => parseRelationship(element, source, names)),
    );
  }
  return { parts, types, relationships, budget, contentTypes: parseContentTypes(types) };
}

function parseContentTypes(types: XmlElement): Map<string, string> {
  const contentTypes = new Map<string, string>();
  for (const entry of elements(types)) {
    const isOverride = entry.local === 'Override';
    const key = attribute(entry, isOverride ? 'PartName' : 'Extension', '')?.toLowerCase();
    if (isOverride !== key?.startsWith('/')) continue;
    const type = attribute(entry, 'ContentType', '');
    if (key !== undefined && type !== undefined && !contentTypes.has(key)) contentTypes.set(key, type);
  }
  return contentTypes;
}

/** Returns the relationships of a part, or of the package itself for ''. */
export function getRelationships(pkg: Package, part: string): Relationship[] {
  return pkg.relationships.get(part) ?? [];
}

/** Finds the target part of the first relationship of this type. Rejects a package in which it is missing. */
export function findRelatedPart(pkg: Package, part: string, type: string): string | undefined {
  const relationship = getRelationships(pkg, part).find((found) => found.type === type && !found.external);
  if (!relationship) return undefined;
  return relationship.part ?? rejectMissingPart(relationship);
}

/** Rejects a package that refers to a missing part. */
export function rejectMissingPart({ target }: Relationship): never {
  return reject(
    'missing_part',
    `The file refers to a missing part (${target.slice(0, 120)}); open it in Word and save it again as .docx.`,
  );
}

/** Returns a part's content type, from its own entry or from its extension. */
export function getContentType(pkg: Package, part: string): string | undefined {
  const name = part.toLowerCase();
  return pkg.contentTypes.get(`/${name}`) ?? pkg.contentTypes.get(name.slice(name.lastIndexOf('.') + 1));
}

/** Adds a part with its content type and a relationship from `source`; returns the relationship's id. */
export function addPart(pkg: Package, source: string, name: string, type: string, contents: string): string {
  const kind = type.slice(type.lastIndexOf('.') + 1).replace('+xml', '');
  pkg.parts.set(name, Buffer.from(contents, 'utf8'));
  addOverride(pkg, name, type);
  const known = getRelationships(pkg, source);
  const id = createRelationshipId(known);
  const folder = source.slice(0, source.lastIndexOf('/') + 1);
  const target = name.startsWith(folder) ? name.slice(folder.length) : `/${name}`;
  const uri = `${kind === 'core-properties' ? METADATA_RELS : R}/${kind}`;
  pkg.relationships.set(source, [...known, { id, type: kind, uri, target, external: false, part: name }]);
  return id;
}

/** Declares the content type of all relationships parts. Some programs declare it for each of them instead. */
export function declareRelsType(pkg: Package): void {
  if (pkg.contentTypes.has('rels')) return;
  pkg.contentTypes.set('rels', RELS_TYPE);
  addType(pkg, 'Default', 'Extension', 'rels', RELS_TYPE);
}

function addOverride(pkg: Package, name: string, type: string): void {
  const key = `/${name}`.toLowerCase();
  pkg.contentTypes.set(key, type);
  // a file may declare the type of a part that it does not contain, and two types of a part damage it
  pkg.types.children = pkg.types.children.filter(
    (child) => !isElement(child) || attribute(child, 'PartName', '')?.toLowerCase() !== key,
  );
  addType(pkg, 'Override', 'PartName', `/${name}`, type);
}

function addType(
  pkg: Package,
  element: 'Default' | 'Override',
  key: string,
  value: string,
  type: string,
): void {
  pkg.types.children.push({
    name: element,
    uri: TYPES_NS,
    local: element,
    attributes: [
      { name: 'xmlns', uri: '', local: 'xmlns', value: TYPES_NS },
      { name: key, uri: '', local: key, value },
      { name: 'ContentType', uri: '', local: 'ContentType', value: type },
    ],
    children: [],
  });
}

function createRelationshipId(known: Relationship[]): string {
  const taken = new Set(known.map(({ id }) => id));
  let number = known.length + 1;
  while (taken.has(`rId${number}`)) number += 1;
  return `rId${number}`;
}

/** Returns the name of the part that contains the relationships of `source`. */
export function toRelsPart(source: string): string {
  const slash = source.lastIndexOf('/') + 1;
  return `${source.slice(0, slash)}_rels/${source.slice(slash)}.rels`;
}

/** Creates a relationships part; `extra` is markup to append. */
export function createRelsTree(relationships: Relationship[], extra = ''): XmlElement {
  const children = relationships.map(({ id, uri, target, external }) => ({
    name: 'Relationship',
    uri: RELS_NS,
    local: 'Relationship',
    attributes: [
      { name: 'Id', uri: '', local: 'Id', value: id },
      { name: 'Type', uri: '', local: 'Type', value: uri },
      { name: 'Target', uri: '', local: 'Target', value: target },
      ...(external ? [{ name: 'TargetMode', uri: '', local: 'TargetMode', value: 'External' }] : []),
    ],
    children: [],
  }));
  return {
    name: 'Relationships',
    uri: RELS_NS,
    local: 'Relationships',
    attributes: [{ name: 'xmlns', uri: '', local: 'xmlns', value: RELS_NS }],
    children: extra ? [...children, { raw: extra }] : children,
  };
}

function parseSourcePart(name: string): string | undefined {
  const match = /^(.*\/)?_rels\/([^/]*)\.rels$/i.exec(name);
  return match ? `${match[1] ?? ''}${match[2]}` : undefined;
}

function parseRelationship(element: XmlElement, source: string, names: Map<string, string>): Relationship {
  const id = attribute(element, 'Id', '') ?? '';
  const uri = attribute(element, 'Type', '') ?? '';
  const target = attribute(element, 'Target', '') ?? '';
  const type = uri.slice(uri.lastIndexOf('/') + 1);
  const external = attribute(element, 'TargetMode', '')?.toLowerCase() === 'external';
  if (external) return { id, type, uri, target, external };
  const part = resolveTarget(source, target, names);
  return { id, type, uri, target, external, ...(part !== undefined && { part }) };
}

function resolveTarget(source: string, target: string, names: Map<string, string>): string | undefined {
  const path = target.replace(/[?#].*$/s, '');
  const segments = path.startsWith('/') ? [] : source.split('/').slice(0, -1);
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const name = segments.join('/').toLowerCase();
  return names.get(name) ?? names.get(decodePath(name).toLowerCase());
}

function decodePath(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
