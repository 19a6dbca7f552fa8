/** Finds the template's styles by their built-in names and adds missing ones; existing ones never change. */
import {
  attribute,
  childrenW,
  childW,
  isOnValue,
  parseNumber,
  parseTwips,
  valueW,
  type XmlElement,
} from '#libs/opc';
import { STYLES, type StyleInfo, type StyleInfos } from './style-definitions.ts';

/** The list and level that a style is numbered by; indents in twips. */
export type StyleList = { numId: string; level: number; left?: number; hanging?: number };

/** A template's styles, indexed by id and by `type/name`. */
export type StyleSheet = { root: XmlElement; byId: Map<string, XmlElement>; byName: Map<string, XmlElement> };

/** Indexes the styles of a styles part; of duplicate ids or names, the first counts. */
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

/** Returns the style of each role; adds the styles that the template lacks, with the format of its text. */
export function ensureStyles(sheet: StyleSheet): StyleInfos {
  const normal = attribute(childrenW(sheet.root, 'style').find(isDefaultParagraph), 'styleId');
  const styles = {} as StyleInfos; // the loop sets every role
  for (const { role, name, type, define } of STYLES) {
    const found = findStyle(sheet, name, type);
    const existing = attribute(found, 'styleId');
    if (existing !== undefined) styles[role] = { id: existing, ...getStyleInfo(sheet, found) };
    else {
      const id = addStyle(sheet, name, (free) => define(free, styles, normal));
      styles[role] = { id, left: 0, isNumbered: false };
    }
  }
  return styles;
}

function isDefaultParagraph(style: XmlElement): boolean {
  return attribute(style, 'type') === 'paragraph' && isOnValue(attribute(style, 'default') ?? 'off');
}

/** Finds a style by its built-in name or an alias; `name` is in lower case. */
function findStyle(sheet: StyleSheet, name: string, type: string): XmlElement | undefined {
  return sheet.byName.get(`${type}/${name}`);
}

/** Finds the id of the template's "Table Grid" style. */
export function findTableStyle(sheet: StyleSheet): string | undefined {
  return attribute(findStyle(sheet, 'table grid', 'table'), 'styleId');
}

/** Returns the numbering of a style, its own or inherited. */
export function getStyleList(sheet: StyleSheet, name: string): StyleList | undefined {
  const style = findStyle(sheet, name, 'paragraph');
  const numId = findInherited(sheet, style, (base) => valueW(base, 'pPr', 'numPr', 'numId'));
  if (!numId || numId === '0') return undefined;
  const level = parseNumber(findInherited(sheet, style, (base) => valueW(base, 'pPr', 'numPr', 'ilvl'))) ?? 0;
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

/** Returns the left indent in twips; newer files call the attribute "start". */
export function getLeft(indent: XmlElement | undefined): number | undefined {
  return parseTwips(attribute(indent, 'left') ?? attribute(indent, 'start'));
}

/** Returns the hanging indent of the first line in twips. */
export function getHanging(indent: XmlElement | undefined): number | undefined {
  const hanging = parseTwips(attribute(indent, 'hanging'));
  return hanging === undefined ? undefined : Math.max(hanging, 0);
}

function getStyleInfo(sheet: StyleSheet, style: XmlElement | undefined): Omit<StyleInfo, 'id'> {
  const numId = findInherited(sheet, style, (base) => valueW(base, 'pPr', 'numPr', 'numId'));
  const left = findInherited(sheet, style, (base) => getLeft(childW(base, 'pPr', 'ind'))?.toString());
  return { left: parseNumber(left) ?? 0, isNumbered: numId !== undefined && numId !== '0' };
}

/** Returns the first value along the chain of base styles; stops at a cycle. */
function findInherited(
  { byId }: StyleSheet,
  style: XmlElement | undefined,
  read: (style: XmlElement) => string | undefined,
): string | undefined {
  const seen = new Set<XmlElement>();
  for (
    let current = style;
    current && !seen.has(current);
    current = byId.get(valueW(current, 'basedOn') ?? '')
  ) {
    seen.add(current);
    const value = read(current);
    if (value !== undefined) return value;
  }
  return undefined;
}

function addStyle({ root, byId }: StyleSheet, name: string, define: (id: string) => string): string {
  const baseId = name.replace(/(^| )(\w)/g, (_match, _space, letter: string) => letter.toUpperCase());
  let id = baseId;
  for (let number = 2; byId.has(id); number += 1) id = `${baseId}${number}`;
  byId.set(id, root);
  root.children.push({ raw: define(id) });
  return id;
}
