/** The template's styles by the names that Word keeps in every language; what is missing is added, never changed. */
import { attribute, childrenW, childW, numberOf, valueW } from '../opc/tree.ts';
import type { XmlElement } from '../opc/xml.ts';
import { STYLES, type StyleRole } from './style-definitions.ts';

/** `left` is the style's own indent in twips; `isNumbered` is true when its paragraphs get a number. */
export type StyleFact = { id: string; left: number; isNumbered: boolean };

export type StyleFacts = Record<StyleRole, StyleFact>;

/** Where a style takes its numbering from. */
export type StyleList = { numId: string; level: number; left?: number; hanging?: number };

/** The facts that the renderer needs about each style; adds those that the template lacks. */
export function ensureStyles(root: XmlElement): StyleFacts {
  const facts = {} as StyleFacts; // filled for every role below
  for (const { role, name, type, define } of STYLES) {
    const found = findStyle(root, name, type);
    const id = found
      ? (attribute(found, 'styleId') ?? '')
      : addStyle(root, name, (free) => define(free, facts));
    const added = found ? undefined : { left: 0, isNumbered: false };
    facts[role] = { id, ...(added ?? factsOf(root, found)) };
  }
  return facts;
}

/** A style by its built-in name or one of its aliases, without regard to case. */
export function findStyle(root: XmlElement, name: string, type: string): XmlElement | undefined {
  const styles = childrenW(root, 'style').filter(
    (style) => (attribute(style, 'type') ?? 'paragraph') === type,
  );
  const first = (style: XmlElement) => valueW(style, 'name')?.toLowerCase() ?? '';
  return (
    styles.find((style) => first(style) === name) ??
    styles.find((style) =>
      first(style)
        .split(',')
        .some((alias) => alias.trim() === name),
    )
  );
}

/** The id of a table style for grids, when the template has one. */
export function tableStyle(root: XmlElement): string | undefined {
  return attribute(findStyle(root, 'table grid', 'table'), 'styleId');
}

/** The numbering that a style by that name brings along, its own or inherited. */
export function listOfStyle(root: XmlElement, name: string): StyleList | undefined {
  const style = findStyle(root, name, 'paragraph');
  const numId = inherited(root, style, (one) => valueW(one, 'pPr', 'numPr', 'numId'));
  if (!numId || numId === '0') return undefined;
  const level = numberOf(inherited(root, style, (one) => valueW(one, 'pPr', 'numPr', 'ilvl'))) ?? 0;
  const indent = childW(style, 'pPr', 'ind');
  const left = leftOf(indent);
  const hanging = numberOf(attribute(indent, 'hanging'));
  return {
    numId,
    level,
    ...(left === undefined ? {} : { left }),
    ...(hanging === undefined ? {} : { hanging }),
  };
}

/** The indent of the start of the line: "left" in transitional files, "start" in newer ones. */
export function leftOf(indent: XmlElement | undefined): number | undefined {
  return numberOf(attribute(indent, 'left') ?? attribute(indent, 'start'));
}

function factsOf(root: XmlElement, style: XmlElement | undefined): Omit<StyleFact, 'id'> {
  const numId = inherited(root, style, (one) => valueW(one, 'pPr', 'numPr', 'numId'));
  const left = inherited(root, style, (one) => leftOf(childW(one, 'pPr', 'ind'))?.toString());
  return { left: numberOf(left) ?? 0, isNumbered: numId !== undefined && numId !== '0' };
}

/** The first answer along the chain of styles that this one is based on; a chain that bites its tail ends. */
function inherited(
  root: XmlElement,
  style: XmlElement | undefined,
  read: (style: XmlElement) => string | undefined,
): string | undefined {
  const seen = new Set<XmlElement>();
  for (let one = style; one && !seen.has(one); one = styleById(root, valueW(one, 'basedOn'))) {
    seen.add(one);
    const value = read(one);
    if (value !== undefined) return value;
  }
  return undefined;
}

function styleById(root: XmlElement, id: string | undefined): XmlElement | undefined {
  return id === undefined
    ? undefined
    : childrenW(root, 'style').find((style) => attribute(style, 'styleId') === id);
}

function addStyle(root: XmlElement, name: string, define: (id: string) => string): string {
  const wanted = name.replace(/(^| )(\w)/g, (_match, _space, letter: string) => letter.toUpperCase());
  let id = wanted;
  for (let number = 2; styleById(root, id); number += 1) id = `${wanted}${number}`;
  root.children.push({ raw: define(id) });
  return id;
}
