/** Fills the properties of the file, which file managers and screen readers show: title, people and times. */
import { addPart, findRelatedPart, isElement, type Package, type XmlElement } from '#libs/opc';
import { toSlot } from './placeholders.ts';

const TYPE = 'application/vnd.openxmlformats-package.core-properties+xml';
const CP = 'http://schemas.openxmlformats.org/package/2006/metadata/core-properties';
const DC = 'http://purl.org/dc/elements/1.1/';
const TERMS = 'http://purl.org/dc/terms/';
const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** A property: its namespace and name, its slot, and whether its value is a time. */
const PROPERTIES = [
  { prefix: 'dc', uri: DC, local: 'title', slot: 'title' },
  { prefix: 'dc', uri: DC, local: 'creator', slot: 'owner' },
  { prefix: 'cp', uri: CP, local: 'lastModifiedBy', slot: 'updated_by' },
  { prefix: 'dcterms', uri: TERMS, local: 'created', slot: 'created_at', isTime: true },
  { prefix: 'dcterms', uri: TERMS, local: 'modified', slot: 'updated_at', isTime: true },
];

/** Returns the part with the properties of the file; adds an empty one if the template has none. */
export function ensureCoreProperties(pkg: Package): string {
  const existing = findRelatedPart(pkg, '', 'core-properties');
  if (existing) return existing;
  let name = 'docProps/core.xml';
  for (let number = 2; pkg.parts.has(name); number += 1) name = `docProps/core${number}.xml`;
  addPart(pkg, '', name, TYPE, `<cp:coreProperties xmlns:cp="${CP}"/>`);
  return name;
}

/** Replaces the template's own title, people and times by slots for those of the document. */
export function setCoreProperties(root: XmlElement | undefined, nonce: string): void {
  if (!root) return;
  root.children = root.children.filter(
    (child) =>
      !isElement(child) || !PROPERTIES.some(({ uri, local }) => child.uri === uri && child.local === local),
  );
  for (const { prefix, uri, local, slot, isTime } of PROPERTIES) {
    const type = isTime ? ` xmlns:xsi="${XSI}" xsi:type="dcterms:W3CDTF"` : '';
    const name = `${prefix}:${local}`;
    root.children.push({ raw: `<${name} xmlns:${prefix}="${uri}"${type}>${toSlot(nonce, slot)}</${name}>` });
  }
}
