/** The compile step itself: a package goes in, one with slots and the facts about it come out. */
import { refuse } from '../opc/fault.ts';
import {
  addPart,
  contentType,
  type Package,
  relatedPart,
  relationshipsOf,
  relsPart,
  relsTree,
  TYPES_PART,
} from '../opc/package.ts';
import { attribute, everyElement, isW, nextNumber, numberOf, R, W } from '../opc/tree.ts';
import {
  bindPrefix,
  checkXml,
  isElement,
  parseXml,
  writeXml,
  type XmlElement,
  type XmlRaw,
} from '../opc/xml.ts';
import { openContentSlot } from './content-slot.ts';
import { ensureLists } from './lists.ts';
import { bodyOf, checkTypes, mainPart } from './main-part.ts';
import { lastSection, roomAt } from './page.ts';
import { findPlaceholders, KNOWN, MOST_PLACEHOLDERS, slot } from './placeholders.ts';
import type { TemplateMode, TemplatePlan } from './plan.ts';
import { dropRelationships, sanitize } from './sanitize.ts';
import { ensureStyles, styleSheet, tableStyle } from './styles.ts';

const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const TITLE_NS = 'http://purl.org/dc/elements/1.1/';
/** Nobody reads more; what comes after is said to be more. */
const MOST_WARNINGS = 40;

export type Compiled = {
  plan: TemplatePlan;
  parts: [string, Uint8Array][];
  placeholders: string[];
  warnings: string[];
};

/** Compiles a package that has been read; refuses what cannot be a template. */
export function compilePlan(pack: Package, nonce: string): Compiled {
  const main = mainPart(pack);
  checkTypes(pack);
  const warnings = new Set<string>();
  const warn = (text: string) => {
    warnings.add(warnings.size < MOST_WARNINGS ? text : 'There are more remarks than these.');
  };
  const dropped = dropRelationships(pack, warn);
  const styles = ensurePart(pack, main, 'styles');
  const numbering = ensurePart(pack, main, 'numbering');
  dropUnreachable(pack);
  const trees = treesOf(pack, dropped, warn);
  const document = treeOf(trees, main);
  bindPrefix(document, 'r', R, main);
  for (const part of [main, styles, numbering]) bindPrefix(treeOf(trees, part), 'w', W, part);
  const found: string[] = [];
  for (const part of fillable(pack, main)) {
    found.push(...placeholdersOf(part, treeOf(trees, part), part === main, nonce));
    if (found.length > MOST_PLACEHOLDERS)
      refuse(
        'too_many_placeholders',
        `The template has more than ${MOST_PLACEHOLDERS} placeholders; use fewer.`,
      );
  }
  const body = bodyOf(document);
  const mode = placeContent(document, body, found, slot(nonce, 'content'));
  report(found, mode, warn);
  setTitle(pack, trees, slot(nonce, 'title'));
  const sheet = styleSheet(treeOf(trees, styles));
  const plan: TemplatePlan = {
    mode,
    nonce,
    main,
    numbering,
    filled: [...fillable(pack, main).filter((part) => part !== main), ...coreProperties(pack)],
    names: freeName(pack, nonce),
    styles: ensureStyles(sheet),
    tableStyle: tableStyle(sheet) ?? null,
    lists: ensureLists(treeOf(trees, numbering), sheet, slot(nonce, 'lists')),
    room: roomAt(body, slot(nonce, 'content')),
    nextDrawingId: nextNumber(drawingIds(trees.values())),
  };
  const placeholders = KNOWN.filter((name) => found.includes(name));
  return { plan, parts: partsOf(pack, trees, main, nonce), placeholders, warnings: [...warnings] };
}

/** The part with styles or numbering, made if the template has none. */
function ensurePart(pack: Package, main: string, kind: 'styles' | 'numbering'): string {
  const known = relatedPart(pack, main, kind);
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
    for (const { part } of relationshipsOf(pack, source)) {
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
function treesOf(pack: Package, dropped: Map<string, Set<string>>, warn: (text: string) => void) {
  const trees = new Map<string, XmlElement>();
  for (const [name, bytes] of pack.parts) {
    const type = contentType(pack, name) ?? '';
    const gone = dropped.get(name);
    if (type.startsWith(WORD_TYPE) || gone || type.endsWith('core-properties+xml')) {
      const root = parseXml(bytes, name, pack.budget);
      sanitize(root, gone ?? new Set(), warn);
      trees.set(name, root);
    } else if (/[+/]xml$/i.test(type)) checkXml(bytes, name, pack.budget);
  }
  return trees;
}

function treeOf(trees: Map<string, XmlElement>, part: string): XmlElement {
  return (
    trees.get(part) ??
    refuse('missing_type', `The part ${part} has the wrong content type; save the file again in Word.`)
  );
}

/** The parts whose text a reader sees on the page. */
function fillable(pack: Package, main: string): string[] {
  const kinds = ['header', 'footer', 'footnotes', 'endnotes'];
  const related = relationshipsOf(pack, main).filter(({ type, part }) => part && kinds.includes(type));
  return [main, ...new Set(related.map(({ part }) => part ?? ''))];
}

function placeholdersOf(part: string, root: XmlElement, isMain: boolean, nonce: string): string[] {
  const found = findPlaceholders(root, nonce);
  if (!isMain && found.includes('content'))
    refuse(
      'content_place',
      `The template has {{content}} in a header, footer or note (${part}); put it in a paragraph of the page itself.`,
    );
  return found;
}

function placeContent(document: XmlElement, body: XmlElement, found: string[], here: string): TemplateMode {
  if (found.includes('content')) {
    openContentSlot(document, here);
    return 'placeholder';
  }
  const room: XmlRaw = { raw: here };
  if (found.length > 0) {
    const last = body.children.findLastIndex((child) => isW(child, 'sectPr'));
    body.children.splice(last === -1 ? body.children.length : last, 0, room);
    return 'append';
  }
  const section = lastSection(body);
  body.children = section ? [room, section] : [room];
  return 'styles';
}

function report(found: string[], mode: TemplateMode, warn: (text: string) => void): void {
  for (const name of new Set(found))
    if (!KNOWN.includes(name))
      warn(
        `{{${name}}} is not known and stays as it is; known are ${KNOWN.map((one) => `{{${one}}}`).join(', ')}.`,
      );
  if (mode === 'append') warn('There is no {{content}}: the document is put at the end of the template.');
  if (mode === 'styles')
    warn(
      'There are no placeholders: the document takes the place of the text; styles, headers and footers stay.',
    );
}

function coreProperties(pack: Package): string[] {
  const part = relatedPart(pack, '', 'core-properties');
  return part ? [part] : [];
}

/** The file's own title, as file managers and screen readers show it, is the document's. */
function setTitle(pack: Package, trees: Map<string, XmlElement>, title: string): void {
  const [part] = coreProperties(pack);
  const root = part ? trees.get(part) : undefined;
  if (!root) return;
  root.children = root.children.filter(
    (child) =>
      !(typeof child === 'object' && 'local' in child && child.uri === TITLE_NS && child.local === 'title'),
  );
  root.children.push({ raw: `<dc:title xmlns:dc="${TITLE_NS}">${title}</dc:title>` });
}

/** A beginning for names of our own; where the template uses the plain one, nobody can have guessed the other. */
function freeName(pack: Package, nonce: string): string {
  const ids = [...pack.relationships.values()].flat().map(({ id }) => id);
  const isTaken = [...pack.parts.keys(), ...ids].some((name) => name.toLowerCase().includes('export'));
  return isTaken ? `export${nonce}x` : 'export';
}

function* drawingIds(trees: Iterable<XmlElement>): Generator<number | undefined> {
  for (const tree of trees)
    for (const { element } of everyElement(tree))
      if (element.local === 'docPr') yield numberOf(attribute(element, 'id', ''));
}

/** The compiled package; relationships and content types have slots for what the renderer adds. */
function partsOf(
  pack: Package,
  trees: Map<string, XmlElement>,
  main: string,
  nonce: string,
): [string, Uint8Array][] {
  pack.types.children.push({ raw: slot(nonce, 'types') });
  const relationships = [...pack.relationships].map(([source, known]): [string, Uint8Array] => [
    relsPart(source),
    writeXml(relsTree(known, source === main ? slot(nonce, 'relationships') : '')),
  ]);
  const parts = [...pack.parts].map(([name, bytes]): [string, Uint8Array] => {
    const tree = trees.get(name);
    return [name, tree ? writeXml(tree) : bytes];
  });
  return [[TYPES_PART, writeXml(pack.types)], ...relationships, ...parts];
}
