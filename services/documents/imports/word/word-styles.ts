/** Reads the styles of a Word file: which paragraphs are headings, and what its character styles look like. */
import {
  attribute,
  childrenW,
  childW,
  isOn,
  isOnValue,
  parseNumber,
  valueW,
  type XmlElement,
} from '#libs/opc';
import { readIndent } from './indent.ts';

/** What a paragraph style makes of a paragraph. */
export type ParagraphKind =
  | { kind: 'heading'; level: number }
  | { kind: 'title' | 'contents' | 'quote' | 'code' | 'text' };

/** A list level that a style or a paragraph sets. */
export interface NumberingReference {
  numId: string | undefined;
  level: string | undefined;
  /** How much deeper the item is than its list says. */
  depth?: number;
}

/** The formatting of a run that rich text can contain. */
export type RunFormat = Partial<
  Record<'b' | 'i' | 'u' | 'strike' | 'dstrike' | 'vanish' | 'highlight', boolean>
> & { vertAlign?: string; font?: string };

interface Style {
  name: string;
  basedOn: string | undefined;
  outline: string | undefined;
  numbering: NumberingReference | undefined;
  indent: number | undefined;
  run: RunFormat;
}

/** A style and those it is based on, at most this many. They can refer to each other in a circle. */
const maxChain = 20;

/**
 * The names of heading styles. Word stores the English names of its built-in styles in every language; other programs
 * store names in the language of the user.
 */
const headingName =
  /^(?:heading|überschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|címsor|заголовок|başlık|標題|标题|見出し|제목) ?([1-9])$/;

/** Reads the part with the styles; undefined if there is none. */
export function readStyles(root: XmlElement | undefined) {
  const paragraphs = new Map<string, Style>();
  const characters = new Map<string, Style>();
  let defaultParagraph: string | undefined;
  for (const element of childrenW(root, 'style')) {
    const id = attribute(element, 'styleId');
    if (id === undefined) continue;
    const type = attribute(element, 'type');
    if (type === 'character') characters.set(id, readStyle(element));
    if (type !== undefined && type !== 'paragraph') continue;
    paragraphs.set(id, readStyle(element));
    if (isOnValue(attribute(element, 'default') ?? 'off')) defaultParagraph = id;
  }
  const kinds = new Map<string, ParagraphKind>();

  return {
    /** What the paragraph style with this id makes of a paragraph; text without a style. */
    getKind(id: string | undefined): ParagraphKind {
      const known = id === undefined ? { kind: 'text' as const } : kinds.get(id);
      if (known) return known;
      const kind = findKind(getChain(paragraphs, id));
      kinds.set(id ?? '', kind);
      return kind;
    },

    /** The list level that a paragraph style sets. */
    getNumbering(id: string | undefined): NumberingReference | undefined {
      const chain = getChain(paragraphs, id ?? defaultParagraph);
      const numId = findFirst(chain, ({ numbering }) => numbering?.numId);
      const level = findFirst(chain, ({ numbering }) => numbering?.level);
      if (numId === undefined && level === undefined) return undefined;
      // each of these styles has its own list, so only the name tells how deep it is
      const depth = Number(/^list (?:bullet|number) ([2-5])$/.exec(chain[0]?.name ?? '')?.[1] ?? 1) - 1;
      return { numId, level, depth: Math.max(0, depth - (parseNumber(level) ?? 0)) };
    },

    /** The left indent that a paragraph style sets, in twips. Its list can set it, too: `listIndent`. */
    getIndent(id: string | undefined, listIndent: number | undefined): number | undefined {
      return findFirst(getChain(paragraphs, id ?? defaultParagraph), ({ indent, numbering }) => {
        return indent ?? (numbering?.numId === undefined ? undefined : listIndent);
      });
    },

    /** Whether a paragraph style hides the text of its paragraphs. */
    isHidden(id: string | undefined): boolean {
      return findFirst(getChain(paragraphs, id ?? defaultParagraph), ({ run }) => run.vanish) ?? false;
    },

    /** The formatting of a character style. */
    getRunFormat(id: string | undefined): RunFormat {
      return Object.assign(
        {},
        ...getChain(characters, id)
          .toReversed()
          .map(({ run }) => run),
      );
    },
  };
}

export type WordStyles = ReturnType<typeof readStyles>;

/** Reads the formatting in the properties of a run or a style. */
export function readRunFormat(properties: XmlElement | undefined): RunFormat {
  const format: RunFormat = {};
  for (const name of ['b', 'i', 'strike', 'dstrike', 'vanish'] as const) {
    const element = childW(properties, name);
    if (element) format[name] = isOn(element);
  }
  const underline = childW(properties, 'u');
  if (underline) format.u = (attribute(underline, 'val') ?? 'none') !== 'none';
  const font = attribute(childW(properties, 'rFonts'), 'hAnsi');
  if (font !== undefined) format.font = font;
  const vertical = valueW(properties, 'vertAlign');
  if (vertical !== undefined) format.vertAlign = vertical;
  else if (childW(properties, 'sz')) {
    // LibreOffice lowers and raises smaller text instead
    const position = parseNumber(valueW(properties, 'position')) ?? 0;
    if (position !== 0) format.vertAlign = position < 0 ? 'subscript' : 'superscript';
  }
  return format;
}

function readStyle(element: XmlElement): Style {
  const properties = childW(element, 'pPr');
  const numbering = childW(properties, 'numPr');
  return {
    name: (valueW(element, 'name') ?? '').trim().toLowerCase(),
    basedOn: valueW(element, 'basedOn'),
    outline: valueW(properties, 'outlineLvl'),
    numbering: numbering && readNumberingReference(numbering),
    indent: readIndent(properties),
    run: readRunFormat(childW(element, 'rPr')),
  };
}

/** Reads `w:numPr`. */
export function readNumberingReference(numbering: XmlElement): NumberingReference {
  return { numId: valueW(numbering, 'numId'), level: valueW(numbering, 'ilvl') };
}

function getChain(styles: ReadonlyMap<string, Style>, id: string | undefined): Style[] {
  const chain: Style[] = [];
  for (let next = id; next !== undefined && chain.length < maxChain; ) {
    const style = styles.get(next);
    if (!style || chain.includes(style)) break;
    chain.push(style);
    next = style.basedOn;
  }
  return chain;
}

/** The property of the first style that sets it: a style inherits each property by itself. */
function findFirst<T>(chain: readonly Style[], get: (style: Style) => T | undefined): T | undefined {
  for (const style of chain) {
    const value = get(style);
    if (value !== undefined) return value;
  }
  return undefined;
}

function findKind(chain: readonly Style[]): ParagraphKind {
  const name = chain[0]?.name ?? '';
  if (name === 'title') return { kind: 'title' };
  if (/^(toc|contents)( heading| \d)$|^toa heading$/.test(name)) return { kind: 'contents' };
  if (/^(intense )?quote$|^quotations?$|^block text$/.test(name)) return { kind: 'quote' };
  if (/^(source )?code$|^html preformatted$|^preformatted text$|^macro text$/.test(name))
    return { kind: 'code' };
  for (const style of chain) {
    const level = headingName.exec(style.name)?.[1];
    if (level) return { kind: 'heading', level: Number(level) };
    if (style.outline === undefined) continue;
    return /^[0-8]$/.test(style.outline)
      ? { kind: 'heading', level: Number(style.outline) + 1 }
      : { kind: 'text' };
  }
  return { kind: 'text' };
}
