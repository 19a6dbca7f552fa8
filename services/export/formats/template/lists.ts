/** Adds list definitions that look like the template's lists: nine levels with its bullets and numbers. */
import {
  attribute,
  childrenW,
  childW,
  isW,
  nextNumber,
  parseNumber,
  valueW,
  w,
  type XmlElement,
  type XmlNode,
} from '#libs/opc';
import { getHanging, getLeft, getStyleList, type StyleSheet } from './styles.ts';

/** The left edge of a list's text and the hanging indent of its bullet, in twips. */
export type ListLevel = { left: number; hanging: number };

/** The lists of a compiled template; each ordered list gets its own number, from `nextNumId` on. */
export type ListPlan = {
  bulletNumId: number;
  orderedAbstractId: number;
  nextNumId: number;
  bullets: ListLevel[];
  numbers: ListLevel[];
};

/** A level; `isExplicit` is false if the list does not state whether it has several levels. */
type Level = { children: XmlNode[]; indent: ListLevel; from: number; isExplicit?: boolean };

type ListKind = 'bullet' | 'number';

/** The elements that are copied from a level, in schema order (ECMA-376 part 1, 17.9.6, CT_Lvl). */
const LEVEL_PARTS = ['start', 'numFmt', 'isLgl', 'suff', 'lvlText', 'lvlPicBulletId', 'lvlJc', 'pPr', 'rPr'];
/** The formatting of a bullet or number that is copied, in schema order (17.3.2.28, CT_RPr). */
const RUN_PARTS =
  'rFonts b bCs i iCs caps smallCaps strike noProof vanish color spacing position sz szCs u bdr shd vertAlign'.split(
    ' ',
  );
/** Default indent of each level, twips. */
const STEP = 360;
const LEVELS = 9;

/** The number of the pattern for ordered lists. Programs take patterns with the same one for a single list. */
export const ORDERED_NSID = 0x5d0b17e2;

/** Returns the number of a pattern as `w:nsid` has it. */
export function toNsid(number: number): string {
  return number.toString(16).toUpperCase();
}

/** Adds a bullet list, a pattern for ordered lists and `slot`, where the renderer inserts ordered lists. */
export function ensureLists(numbering: XmlElement, styles: StyleSheet, slot: string): ListPlan {
  const bullets = resolveLevels(numbering, styles, 'bullet', defaultBullet);
  const numbers = resolveLevels(numbering, styles, 'number', defaultNumber);
  const free = (local: string, name: string) =>
    nextNumber(childrenW(numbering, local).map((found) => parseNumber(attribute(found, name))));
  const abstractId = free('abstractNum', 'abstractNumId');
  const numId = free('num', 'numId');
  const bulletPattern = createPattern(abstractId, bullets, '5D0B17E1');
  const orderedPattern = createPattern(abstractId + 1, numbers, toNsid(ORDERED_NSID));
  const firstNum = numbering.children.findIndex((child) => isW(child, 'num', 'numIdMacAtCleanup'));
  const at = firstNum === -1 ? numbering.children.length : firstNum;
  numbering.children.splice(at, 0, bulletPattern, orderedPattern);
  const end = numbering.children.findIndex((child) => isW(child, 'numIdMacAtCleanup'));
  const bulletNum = `<w:num w:numId="${numId}"><w:abstractNumId w:val="${abstractId}"/></w:num>`;
  numbering.children.splice(end === -1 ? numbering.children.length : end, 0, { raw: bulletNum + slot });
  return {
    bulletNumId: numId,
    orderedAbstractId: abstractId + 1,
    nextNumId: numId + 1,
    bullets: bullets.map(({ indent }) => indent),
    numbers: numbers.map(({ indent }) => indent),
  };
}

/**
 * Resolves nine levels. Each comes from the style's list, else from "List Bullet 2" and so on, else from the
 * previous level with a larger indent. In a list without a type, deeper levels rank below "List Bullet 2",
 * because LibreOffice fills lists up with unwanted levels.
 */
function resolveLevels(
  numbering: XmlElement,
  styles: StyleSheet,
  kind: ListKind,
  createDefault: (level: number) => Level,
): Level[] {
  const name = `list ${kind}`;
  const levels: Level[] = [];
  for (let level = 0; level < LEVELS; level += 1) {
    const own = getStyleList(styles, name);
    const deeper = level === 0 ? undefined : getStyleList(styles, `${name} ${level + 1}`);
    const first = own && findLevel(numbering, styles, own.numId, own.level + level, level === 0, kind);
    const second = deeper && findLevel(numbering, styles, deeper.numId, deeper.level, true, kind);
    const found = first?.isExplicit ? first : (second ?? first);
    const styled = level === 0 ? own : found === second ? deeper : undefined;
    const last = levels.at(-1);
    if (found) levels.push({ ...found, indent: { ...found.indent, ...toIndent(styled) } });
    else if (own && last) levels.push(indentLevel(last));
    else levels.push(createDefault(level));
  }
  return levels;
}

function toIndent(styled: { left?: number; hanging?: number } | undefined): Partial<ListLevel> {
  return {
    ...(styled?.left === undefined ? {} : { left: styled.left }),
    ...(styled?.hanging === undefined ? {} : { hanging: styled.hanging }),
  };
}

/** Finds a level of a list in the template; a single-level list has only the first. */
function findLevel(
  numbering: XmlElement,
  styles: StyleSheet,
  numId: string,
  level: number,
  isFirst: boolean,
  kind: ListKind,
): Level | undefined {
  const num = childrenW(numbering, 'num').find((found) => attribute(found, 'numId') === numId);
  const abstract = findAbstract(numbering, styles, valueW(num, 'abstractNumId'));
  const type = valueW(abstract, 'multiLevelType');
  if (!abstract || (!isFirst && type === 'singleLevel')) return undefined;
  const isLevel = (found: XmlElement) => attribute(found, 'ilvl') === `${level}`;
  const override = childW(childrenW(num, 'lvlOverride').find(isLevel), 'lvl');
  const definition = override ?? childrenW(abstract, 'lvl').find(isLevel);
  if (!definition || (level > 0 && !matchesKind(definition, kind))) return undefined;
  const indent = childW(definition, 'pPr', 'ind');
  return {
    children: LEVEL_PARTS.flatMap((local) => childW(definition, local) ?? []),
    indent: {
      left: getLeft(indent) ?? STEP * (level + 1),
      hanging: getHanging(indent) ?? STEP,
    },
    from: level,
    isExplicit: isFirst || type !== undefined,
  };
}

/** Returns false for the numbered or empty levels with which some editors fill up a bullet list. */
function matchesKind(level: XmlElement, kind: ListKind): boolean {
  const format = valueW(level, 'numFmt') ?? 'decimal';
  return kind === 'bullet' ? format === 'bullet' : format !== 'bullet' && format !== 'none';
}

/** Finds an abstract list; follows its link to a list style, if it has one. */
function findAbstract(
  numbering: XmlElement,
  { byId }: StyleSheet,
  id: string | undefined,
): XmlElement | undefined {
  const find = (abstractId: string | undefined) =>
    childrenW(numbering, 'abstractNum').find((found) => attribute(found, 'abstractNumId') === abstractId);
  const found = find(id);
  const link = valueW(found, 'numStyleLink');
  if (!link) return found;
  const numId = valueW(byId.get(link), 'pPr', 'numPr', 'numId');
  const num = childrenW(numbering, 'num').find((element) => attribute(element, 'numId') === numId);
  return find(valueW(num, 'abstractNumId'));
}

function indentLevel({ children, indent, from }: Level): Level {
  return { children, indent: { ...indent, left: indent.left + STEP }, from };
}

function createPattern(id: number, levels: Level[], nsid: string): XmlNode {
  return w('abstractNum', { abstractNumId: `${id}` }, [
    w('nsid', { val: nsid }),
    w('multiLevelType', { val: 'multilevel' }),
    ...levels.map((level, at) =>
      w(
        'lvl',
        { ilvl: `${at}` },
        level.children.map((child) => shiftLevel(child, level, at)),
      ),
    ),
  ]);
}

/** Copies an element of a level to another depth: "%1." of the first level becomes "%2." on the second. */
function shiftLevel(node: XmlNode, { from, indent }: Level, to: number): XmlNode {
  if (isW(node, 'lvlText')) {
    const attributes = node.attributes.map((found) =>
      found.local === 'val' && to !== from ? { ...found, value: shiftLabel(found.value, to - from) } : found,
    );
    return { ...node, attributes };
  }
  if (isW(node, 'lvlJc')) return w('lvlJc', { val: JUSTIFIED.get(attribute(node, 'val') ?? '') ?? 'left' });
  if (isW(node, 'rPr'))
    return w(
      'rPr',
      {},
      RUN_PARTS.flatMap((local) => childW(node, local) ?? []),
    );
  if (!isW(node, 'pPr')) return node;
  return w('pPr', {}, [w('ind', { left: `${indent.left}`, hanging: `${indent.hanging}` })]);
}

/** Shifts the levels of a label. A level that does not exist is removed with the separator behind it. */
function shiftLabel(label: string, by: number): string {
  return label.replace(/%([1-9])([^%]*)/g, (_match, digit: string, separator: string) => {
    const level = Number(digit) + by;
    return level < 1 ? '' : `%${Math.min(level, LEVELS)}${separator}`;
  });
}

const JUSTIFIED = new Map([
  ['center', 'center'],
  ['right', 'right'],
  ['end', 'right'],
]);

function defaultBullet(level: number): Level {
  const glyph = ['•', '–', '▪'][level % 3] ?? '•';
  return createLevel(level, 'bullet', glyph);
}

function defaultNumber(level: number): Level {
  const format = ['decimal', 'lowerLetter', 'lowerRoman'][level % 3] ?? 'decimal';
  return createLevel(level, format, `%${level + 1}.`);
}

function createLevel(level: number, format: string, text: string): Level {
  const indent = { left: STEP * (level + 1), hanging: STEP };
  const children = [
    w('start', { val: '1' }),
    w('numFmt', { val: format }),
    w('lvlText', { val: text }),
    w('lvlJc', { val: 'left' }),
    w('pPr', {}, [w('ind', { left: `${indent.left}`, hanging: `${indent.hanging}` })]),
  ];
  return { children, indent, from: level };
}
