/** Compiles a package: returns its parts with slots, and the plan that the renderer needs. */
import {
  addPart,
  attribute,
  bindPrefix,
  checkReferences,
  checkXml,
  createRelsTree,
  declareRelsType,
  findMainPart,
  findRelatedPart,
  getBody,
  getContentType,
  getRelationships,
  isElement,
  isW,
  nextNumber,
  type Package,
  parseNumber,
  parseXml,
  R,
  reject,
  TYPES_PART,
  toRelsPart,
  W,
  walkElements,
  writeXml,
  type XmlElement,
  type XmlRaw,
} from '#libs/opc';
import { insertContentSlot } from './content-slot.ts';
import { ensureCoreProperties, setCoreProperties } from './core-properties.ts';
import { addWarnings, fillParts, findFillableParts } from './fill-parts.ts';
import { ensureLists } from './lists.ts';
import { createLastSection, getTextArea } from './page.ts';
import { KNOWN_PLACEHOLDERS, toSlot } from './placeholders.ts';
import type { TemplateMode, TemplatePlan } from './plan.ts';
import { dropRelationships, sanitize } from './sanitize.ts';
import { createStyleSheet, ensureStyles, findTableStyle } from './styles.ts';

const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
/** Maximum number of warnings; one more says that there are further warnings. */
const MAX_WARNINGS = 40;

/** A compiled package: its plan and parts, the known placeholders, and warnings for the uploader. */
export type CompiledPackage = {
  plan: TemplatePlan;
  parts: [string, Uint8Array][];
  placeholders: string[];
  warnings: string[];
};

/** Compiles a package. Errors: `TemplateRejected`. */
export function compilePlan(pkg: Package, nonce: string): CompiledPackage {
  const main = findMainPart(pkg);
  checkReferences(pkg);
  const warnings = new Set<string>();
  const warn = (text: string) => {
    warnings.add(warnings.size < MAX_WARNINGS ? text : 'There are more warnings than these.');
  };
  const dropped = dropRelationships(pkg, warn);
  const styles = ensurePart(pkg, main, 'styles');
  const numbering = ensurePart(pkg, main, 'numbering');
  const properties = ensureCoreProperties(pkg);
  dropUnreachable(pkg);
  declareRelsType(pkg);
  const trees = parseTrees(pkg, dropped, warn);
  const document = getTree(trees, main);
  bindPrefix(document, 'r', R, main);
  for (const part of [main, styles, numbering]) bindPrefix(getTree(trees, part), 'w', W, part);
  const fillable = findFillableParts(pkg, main);
  const text = fillParts(
    fillable.map((part) => [part, getTree(trees, part)]),
    nonce,
  );
  const body = getBody(document);
  const mode = placeContent(document, body, text.names, toSlot(nonce, 'content'));
  addWarnings(text, mode, warn);
  setCoreProperties(trees.get(properties), nonce);
  const sheet = createStyleSheet(getTree(trees, styles));
  const plan: TemplatePlan = {
    mode,
    nonce,
    main,
    numbering,
    stylesPart: styles,
    filled: [...fillable.slice(1), properties],
    names: createNamePrefix(pkg, nonce),
    styles: ensureStyles(sheet),
    tableStyle: findTableStyle(sheet) ?? null,
    lists: ensureLists(getTree(trees, numbering), sheet, toSlot(nonce, 'lists')),
    room: getTextArea(body, toSlot(nonce, 'content')),
    nextDrawingId: nextNumber(findDrawingIds(trees.values())),
    hasContents: false,
  };
  const known = KNOWN_PLACEHOLDERS.filter((name) => text.names.includes(name));
  return {
    plan,
    parts: serializeParts(pkg, trees, main, nonce),
    placeholders: known,
    warnings: [...warnings],
  };
}

/** Returns the part with styles or numbering; adds an empty one if the template has none. */
function ensurePart(pkg: Package, main: string, kind: 'styles' | 'numbering'): string {
  const existing = findRelatedPart(pkg, main, kind);
  if (existing) return existing;
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  let name = `${folder}${kind}.xml`;
  for (let number = 2; pkg.parts.has(name); number += 1) name = `${folder}${kind}${number}.xml`;
  addPart(pkg, main, name, `${WORD_TYPE}.${kind}+xml`, `<w:${kind} xmlns:w="${W}"/>`);
  return name;
}

/** Deletes parts that no relationship refers to. */
function dropUnreachable(pkg: Package): void {
  const reached = new Set<string>();
  const waiting = [''];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    for (const { part } of getRelationships(pkg, source)) {
      if (!part || reached.has(part)) continue;
      reached.add(part);
      waiting.push(part);
    }
  }
  for (const name of pkg.parts.keys()) if (!reached.has(name)) pkg.parts.delete(name);
  for (const source of pkg.relationships.keys())
    if (source !== '' && !reached.has(source)) pkg.relationships.delete(source);
  const typed = new Set([...reached].map((part) => `/${part}`.toLowerCase()));
  pkg.types.children = pkg.types.children.filter((child) => {
    const name = isElement(child) ? attribute(child, 'PartName', '') : undefined;
    return name === undefined || typed.has(name.toLowerCase());
  });
}

/** Parses all parts that the compiler may change; every other XML part is only checked. */
function parseTrees(pkg: Package, dropped: Map<string, Set<string>>, warn: (text: string) => void) {
  const trees = new Map<string, XmlElement>();
  for (const [name, bytes] of pkg.parts) {
    const type = (getContentType(pkg, name) ?? '').toLowerCase();
    const droppedIds = dropped.get(name);
    if (type.startsWith(WORD_TYPE) || droppedIds || type.endsWith('core-properties+xml')) {
      const root = parseXml(bytes, name, pkg.budget);
      sanitize(root, droppedIds ?? new Set(), warn);
      trees.set(name, root);
    } else if (/[+/]xml$/i.test(type)) checkXml(bytes, name, pkg.budget);
  }
  return trees;
}

function getTree(trees: Map<string, XmlElement>, part: string): XmlElement {
  return (
    trees.get(part) ??
    reject('missing_type', `The part ${part} has the wrong content type; save the file again in Word.`)
  );
}

function placeContent(
  document: XmlElement,
  body: XmlElement,
  placeholders: string[],
  slot: string,
): TemplateMode {
  if (placeholders.includes('content')) {
    insertContentSlot(document, slot);
    return 'placeholder';
  }
  const slotNode: XmlRaw = { raw: slot };
  if (placeholders.length > 0) {
    const last = body.children.findLastIndex((child) => isW(child, 'sectPr'));
    body.children.splice(last === -1 ? body.children.length : last, 0, slotNode);
    return 'append';
  }
  const section = createLastSection(body);
  body.children = section ? [slotNode, section] : [slotNode];
  return 'styles';
}

/** Creates a prefix for added names. If the template uses the plain one, the nonce makes it unique. */
function createNamePrefix(pkg: Package, nonce: string): string {
  const ids = [...pkg.relationships.values()].flat().map(({ id }) => id);
  const isTaken = [...pkg.parts.keys(), ...ids].some((name) => name.toLowerCase().includes('export'));
  return isTaken ? `export${nonce}x` : 'export';
}

function* findDrawingIds(trees: Iterable<XmlElement>): Generator<number | undefined> {
  for (const tree of trees)
    for (const { element } of walkElements(tree))
      if (element.local === 'docPr') yield parseNumber(attribute(element, 'id', ''));
}

/** Serializes the package; relationships and content types get slots for what the renderer adds. */
function serializeParts(
  pkg: Package,
  trees: Map<string, XmlElement>,
  main: string,
  nonce: string,
): [string, Uint8Array][] {
  pkg.types.children.push({ raw: toSlot(nonce, 'types') });
  const relationships = [...pkg.relationships].map(([source, own]): [string, Uint8Array] => [
    toRelsPart(source),
    writeXml(createRelsTree(own, source === main ? toSlot(nonce, 'relationships') : '')),
  ]);
  const parts = [...pkg.parts].map(([name, bytes]): [string, Uint8Array] => {
    const tree = trees.get(name);
    return [name, tree ? writeXml(tree) : bytes];
  });
  return [[TYPES_PART, writeXml(pkg.types)], ...relationships, ...parts];
}
