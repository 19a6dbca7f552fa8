/** The compile step itself: a package goes in, one with slots and the facts about it come out. */
import { reject } from '../opc/fault.ts';
import {
  addPart,
  createRelsTree,
  findRelatedPart,
  getContentType,
  getRelationships,
  type Package,
  TYPES_PART,
  toRelsPart,
} from '../opc/package.ts';
import { attribute, isW, nextNumber, parseNumber, R, W, walkElements } from '../opc/tree.ts';
import {
  bindPrefix,
  checkXml,
  isElement,
  parseXml,
  writeXml,
  type XmlElement,
  type XmlRaw,
} from '../opc/xml.ts';
import { insertContentSlot } from './content-slot.ts';
import { ensureLists } from './lists.ts';
import { checkTypes, findMainPart, getBody } from './main-part.ts';
import { createLastSection, getTextArea } from './page.ts';
import { insertSlots, KNOWN_PLACEHOLDERS, MAX_PLACEHOLDERS, toSlot } from './placeholders.ts';
import type { TemplateMode, TemplatePlan } from './plan.ts';
import { dropRelationships, sanitize } from './sanitize.ts';
import { createStyleSheet, ensureStyles, findTableStyle } from './styles.ts';

const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const TITLE_NS = 'http://purl.org/dc/elements/1.1/';
/** Nobody reads more; what comes after is said to be more. */
const MAX_WARNINGS = 40;

export type CompiledPackage = {
  plan: TemplatePlan;
  parts: [string, Uint8Array][];
  placeholders: string[];
  warnings: string[];
};

/** Compiles a package that has been read; refuses what cannot be a template. */
export function compilePlan(pack: Package, nonce: string): CompiledPackage {
  const main = findMainPart(pack);
  checkTypes(pack);
  const warnings = new Set<string>();
  const warn = (text: string) => {
    warnings.add(warnings.size < MAX_WARNINGS ? text : 'There are more remarks than these.');
  };
  const dropped = dropRelationships(pack, warn);
  const styles = ensurePart(pack, main, 'styles');
  const numbering = ensurePart(pack, main, 'numbering');
  dropUnreachable(pack);
  const trees = parseTrees(pack, dropped, warn);
  const document = getTree(trees, main);
  bindPrefix(document, 'r', R, main);
  for (const part of [main, styles, numbering]) bindPrefix(getTree(trees, part), 'w', W, part);
  const found: string[] = [];
  for (const part of findFillableParts(pack, main)) {
    found.push(...replacePlaceholders(part, getTree(trees, part), part === main, nonce));
    if (found.length > MAX_PLACEHOLDERS)
      reject(
        'too_many_placeholders',
        `The template has more than ${MAX_PLACEHOLDERS} placeholders; use fewer.`,
      );
  }
  const body = getBody(document);
  const mode = placeContent(document, body, found, toSlot(nonce, 'content'));
  addWarnings(found, mode, warn);
  setTitle(pack, trees, toSlot(nonce, 'title'));
  const sheet = createStyleSheet(getTree(trees, styles));
  const plan: TemplatePlan = {
    mode,
    nonce,
    main,
    numbering,
    filled: [...findFillableParts(pack, main).filter((part) => part !== main), ...findCoreProperties(pack)],
    names: createNamePrefix(pack, nonce),
    styles: ensureStyles(sheet),
    tableStyle: findTableStyle(sheet) ?? null,
    lists: ensureLists(getTree(trees, numbering), sheet, toSlot(nonce, 'lists')),
    room: getTextArea(body, toSlot(nonce, 'content')),
    nextDrawingId: nextNumber(findDrawingIds(trees.values())),
  };
  const placeholders = KNOWN_PLACEHOLDERS.filter((name) => found.includes(name));
  return { plan, parts: serializeParts(pack, trees, main, nonce), placeholders, warnings: [...warnings] };
}

/** The part with styles or numbering, made if the template has none. */
function ensurePart(pack: Package, main: string, kind: 'styles' | 'numbering'): string {
  const known = findRelatedPart(pack, main, kind);
  if (known) return known;
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  let name = `${folder}${kind}.xml`;
  for (let number = 2; pack.parts.has(name); number += 1) name = `${folder}${kind}${number}.xml`;
  addPart(pack, main, name, `${WORD_TYPE}.${kind}+xml`, `<w:${kind} xmlns:w="${W}"/>`);
  return name;
}

/** What nothing points to any more is not carried along. */
function dropUnreachable(pack: Package): void {
  const reached = new Set<string>();
  const waiting = [''];
  for (let source = waiting.pop(); source !== undefined; source = waiting.pop()) {
    for (const { part } of getRelationships(pack, source)) {
      if (!part || reached.has(part)) continue;
      reached.add(part);
      waiting.push(part);
    }
  }
  for (const name of pack.parts.keys()) if (!reached.has(name)) pack.parts.delete(name);
  for (const source of pack.relationships.keys())
    if (source !== '' && !reached.has(source)) pack.relationships.delete(source);
  const typed = new Set([...reached].map((part) => `/${part}`.toLowerCase()));
  pack.types.children = pack.types.children.filter((child) => {
    const name = isElement(child) ? attribute(child, 'PartName', '') : undefined;
    return name === undefined || typed.has(name.toLowerCase());
  });
}

/** The trees of all parts that the compile step may change; every other XML part is read once, to know that it is sound. */
function parseTrees(pack: Package, dropped: Map<string, Set<string>>, warn: (text: string) => void) {
  const trees = new Map<string, XmlElement>();
  for (const [name, bytes] of pack.parts) {
    const type = getContentType(pack, name) ?? '';
    const gone = dropped.get(name);
    if (type.startsWith(WORD_TYPE) || gone || type.endsWith('core-properties+xml')) {
      const root = parseXml(bytes, name, pack.budget);
      sanitize(root, gone ?? new Set(), warn);
      trees.set(name, root);
    } else if (/[+/]xml$/i.test(type)) checkXml(bytes, name, pack.budget);
  }
  return trees;
}

function getTree(trees: Map<string, XmlElement>, part: string): XmlElement {
  return (
    trees.get(part) ??
    reject('missing_type', `The part ${part} has the wrong content type; save the file again in Word.`)
  );
}

/** The parts whose text a reader sees on the page. */
function findFillableParts(pack: Package, main: string): string[] {
  const kinds = ['header', 'footer', 'footnotes', 'endnotes'];
  const related = getRelationships(pack, main).filter(({ type, part }) => part && kinds.includes(type));
  return [main, ...new Set(related.map(({ part }) => part ?? ''))];
}

function replacePlaceholders(part: string, root: XmlElement, isMain: boolean, nonce: string): string[] {
  const found = insertSlots(root, nonce);
  if (!isMain && found.includes('content'))
    reject(
      'content_place',
      `The template has {{content}} in a header, footer or note (${part}); put it in a paragraph of the page itself.`,
    );
  return found;
}

function placeContent(document: XmlElement, body: XmlElement, found: string[], here: string): TemplateMode {
  if (found.includes('content')) {
    insertContentSlot(document, here);
    return 'placeholder';
  }
  const room: XmlRaw = { raw: here };
  if (found.length > 0) {
    const last = body.children.findLastIndex((child) => isW(child, 'sectPr'));
    body.children.splice(last === -1 ? body.children.length : last, 0, room);
    return 'append';
  }
  const section = createLastSection(body);
  body.children = section ? [room, section] : [room];
  return 'styles';
}

function addWarnings(found: string[], mode: TemplateMode, warn: (text: string) => void): void {
  for (const name of new Set(found))
    if (!KNOWN_PLACEHOLDERS.includes(name))
      warn(
        `{{${name}}} is not known and stays as it is; known are ${KNOWN_PLACEHOLDERS.map((one) => `{{${one}}}`).join(', ')}.`,
      );
  if (mode === 'append') warn('There is no {{content}}: the document is put at the end of the template.');
  if (mode === 'styles')
    warn(
      'There are no placeholders: the document takes the place of the text; styles, headers and footers stay.',
    );
}

function findCoreProperties(pack: Package): string[] {
  const part = findRelatedPart(pack, '', 'core-properties');
  return part ? [part] : [];
}

/** The file's own title, as file managers and screen readers show it, is the document's. */
function setTitle(pack: Package, trees: Map<string, XmlElement>, title: string): void {
  const [part] = findCoreProperties(pack);
  const root = part ? trees.get(part) : undefined;
  if (!root) return;
  root.children = root.children.filter(
    (child) =>
      !(typeof child === 'object' && 'local' in child && child.uri === TITLE_NS && child.local === 'title'),
  );
  root.children.push({ raw: `<dc:title xmlns:dc="${TITLE_NS}">${title}</dc:title>` });
}

/** A beginning for names of our own; where the template uses the plain one, nobody can have guessed the other. */
function createNamePrefix(pack: Package, nonce: string): string {
  const ids = [...pack.relationships.values()].flat().map(({ id }) => id);
  const isTaken = [...pack.parts.keys(), ...ids].some((name) => name.toLowerCase().includes('export'));
  return isTaken ? `export${nonce}x` : 'export';
}

function* findDrawingIds(trees: Iterable<XmlElement>): Generator<number | undefined> {
  for (const tree of trees)
    for (const { element } of walkElements(tree))
      if (element.local === 'docPr') yield parseNumber(attribute(element, 'id', ''));
}

/** The compiled package; relationships and content types have slots for what the renderer adds. */
function serializeParts(
  pack: Package,
  trees: Map<string, XmlElement>,
  main: string,
  nonce: string,
): [string, Uint8Array][] {
  pack.types.children.push({ raw: toSlot(nonce, 'types') });
  const relationships = [...pack.relationships].map(([source, known]): [string, Uint8Array] => [
    toRelsPart(source),
    writeXml(createRelsTree(known, source === main ? toSlot(nonce, 'relationships') : '')),
  ]);
  const parts = [...pack.parts].map(([name, bytes]): [string, Uint8Array] => {
    const tree = trees.get(name);
    return [name, tree ? writeXml(tree) : bytes];
  });
  return [[TYPES_PART, writeXml(pack.types)], ...relationships, ...parts];
}
