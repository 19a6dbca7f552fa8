/** The template's styles by the names that Word keeps in every language; what is missing is added, never changed. */
import { attribute, childrenW, childW, parseNumber, parseTwips, valueW } from '../opc/tree.ts';
import type { XmlElement } from '../opc/xml.ts';
import { STYLES, type StyleRole } from './style-definitions.ts';

/** `left` is the style's own indent in twips; `isNumbered` is true when its paragraphs get a number. */
export type StyleInfo = { id: string; left: number; isNumbered: boolean };

export type StyleInfos = Record<StyleRole, StyleInfo>;

/** Where a style takes its numbering from. */
export type StyleList = { numId: string; level: number; left?: number; hanging?: number };

/** A template's styles, found without looking through all of them. */
export type StyleSheet = { root: XmlElement; byId: Map<string, XmlElement>; byName: Map<string, XmlElement> };

/** The styles of a styles part; of two with one id or name the first counts. */
export function createStyleSheet(root: XmlElement): StyleSheet {
  const byId = new Map<string, XmlElement>();
  const byName = new Map<string, XmlElement>();
  const aliases = new Map<string, XmlElement>();
  const setIfMissing = (map: Map<string, XmlElement>, key: string, style: XmlElement) => {
    if (!map.has(key)) map.set(key, style);
  };
  for (const style of childrenW(root, 'style')) {
    const id = attribute(style, 'styleId');
    if (id !== undefined) setIfMissing(byId, id, style);
    const type = attribute(style, 'type') ?? 'paragraph';
    const name = valueW(style, 'name')?.toLowerCase() ?? '';
    setIfMissing(byName, `${type}/${name}`, style);
    for (const alias of name.split(',')) setIfMissing(aliases, `${type}/${alias.trim()}`, style);
  }
  for (const [name, style] of aliases) setIfMissing(byName, name, style);
  return { root, byId, byName };
}

/** The facts that the renderer needs about each style; adds those that the template lacks. */
export function ensureStyles(sheet: StyleSheet): StyleInfos {
  const facts = {} as StyleInfos; // filled for every role below
  for (const { role, name, type, define } of STYLES) {
    const found = findStyle(sheet, name, type);
    const known = attribute(found, 'styleId');
    if (known !== undefined) facts[role] = { id: known, ...getStyleInfo(sheet, found) };
    else {
      const id = addStyle(sheet, name, (free) => define(free, facts));
      facts[role] = { id, left: 0, isNumbered: false };
    }
  }
  return facts;
}

/** A style by its built-in name or one of its aliases, without regard to case. */
export function findStyle(sheet: StyleSheet, name: string, type: string): XmlElement | undefined {
  return sheet.byName.get(`${type}/${name}`);
}

/** The id of a table style for grids, when the template has one. */
export function findTableStyle(sheet: StyleSheet): string | undefined {
  return attribute(findStyle(sheet, 'table grid', 'table'), 'styleId');
}

/** The numbering that a style by that name brings along, its own or inherited. */
export function getStyleList(sheet: StyleSheet, name: string): StyleList | undefined {
  const style = findStyle(sheet, name, 'paragraph');
  const numId = findInherited(sheet, style, (one) => valueW(one, 'pPr', 'numPr', 'numId'));
  if (!numId || numId === '0') return undefined;
  const level = parseNumber(findInherited(sheet, style, (one) => valueW(one, 'pPr', 'numPr', 'ilvl'))) ?? 0;
  const indent = childW(style, 'pPr', 'ind');
  const left = getLeft(indent);
  const hanging = getHanging(indent);
  return {
    numId,
    level,
    ...(left === undefined ? {} : { left }),
    ...(hanging === undefined ? {} : { hanging }),
  };
}

/** The indent of the start of the line: "left" in transitional files, "start" in newer ones. */
export function getLeft(indent: XmlElement | undefined): number | undefined {
  return parseTwips(attribute(indent, 'left') ?? attribute(indent, 'start'));
}

/** How far the first line hangs out to the left. */
export function getHanging(indent: XmlElement | undefined): number | undefined {
  const hanging = parseTwips(attribute(indent, 'hanging'));
  return hanging === undefined ? undefined : Math.max(hanging, 0);
}

function getStyleInfo(sheet: StyleSheet, style: XmlElement | undefined): Omit<StyleInfo, 'id'> {
  const numId = findInherited(sheet, style, (one) => valueW(one, 'pPr', 'numPr', 'numId'));
  const left = findInherited(sheet, style, (one) => getLeft(childW(one, 'pPr', 'ind'))?.toString());
  return { left: parseNumber(left) ?? 0, isNumbered: numId !== undefined && numId !== '0' };
}

/** The first answer along the chain of styles that this one is based on; a chain that bites its tail ends. */
function findInherited(
  { byId }: StyleSheet,
  style: XmlElement | undefined,
  read: (style: XmlElement) => string | undefined,
): string | undefined {
  const seen = new Set<XmlElement>();
  for (let one = style; one && !seen.has(one); one = byId.get(valueW(one, 'basedOn') ?? '')) {
    seen.add(one);
    const value = read(one);
    if (value !== undefined) return value;
  }
  return undefined;
}

function addStyle({ root, byId }: StyleSheet, name: string, define: (id: string) => string): string {
  const wanted = name.replace(/(^| )(\w)/g, (_match, _space, letter: string) => letter.toUpperCase());
  let id = wanted;
  for (let number = 2; byId.has(id); number += 1) id = `${wanted}${number}`;
  byId.set(id, root);
  root.children.push({ raw: define(id) });
  return id;
}
