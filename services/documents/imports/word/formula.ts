/** Writes formulas of Word (OMML, ECMA-376 part 1, 22.1) as text in one line, without changing their meaning. */
import { attribute, getText, isElement, isOnValue, type XmlElement } from '#libs/opc';

const M = 'http://schemas.openxmlformats.org/officeDocument/2006/math';

/** A part of a formula. `plain` is text as it is shown; the other kinds replace a form in two dimensions. */
interface Part {
  kind: 'plain' | 'fraction' | 'brackets' | 'other';
  text: string;
}

/** Returns the text of a formula, such as `x=(1/2)+10^3`. `before` is the text before it: 2 and 1/2 are not 21/2. */
export function toFormulaText(formula: XmlElement, before = ''): string {
  const last = before.slice(-1);
  return join([{ kind: 'plain', text: last }, ...readParts(formula)]).text.slice(last.length);
}

function readParts({ children }: XmlElement): Part[] {
  return children.filter(isElement).flatMap(readElement);
}

/** Reads an element. An element that is not in `forms`, such as a box, is replaced by its content. */
function readElement(element: XmlElement): Part[] {
  if (element.local === 't') return [{ kind: 'plain', text: getText(element) }];
  const read = element.uri === M && Object.hasOwn(forms, element.local) ? forms[element.local] : undefined;
  return read ? [read(element)] : readParts(element);
}

const forms: Record<string, (element: XmlElement) => Part> = {
  f: readFraction,
  sSup: (element) => readScripts(element),
  sSub: (element) => readScripts(element),
  sSubSup: (element) => readScripts(element),
  sPre: (element) => toPart(`${getScripts(element)} ${getBase(element)}`),
  rad: readRoot,
  nary: (element) => {
    const sign = getValue(element, 'chr') ?? '∫';
    return toPart(`${sign}${getScripts(element)} ${bracket(readArgument(element, 'e'))}`);
  },
  d: readBrackets,
  phant: (element) =>
    isOnValue(getValue(element, 'show') ?? 'on') ? readArgument(element, 'e') : toPart(''),
  func: (element) => toPart(`${readArgument(element, 'fName').text}${enclose(readArgument(element, 'e'))}`),
  limLow: (element) => toPart(`${getBase(element)}_${bracket(readArgument(element, 'lim'))}`),
  limUpp: (element) => toPart(`${getBase(element)}┴${bracket(readArgument(element, 'lim'))}`),
  groupChr: (element) => toPart(`${getBase(element)}${getValue(element, 'chr') ?? '⏟'}`),
  acc: (element) => toPart(`${getBase(element)}${getValue(element, 'chr') ?? '\u0302'}`),
  bar: (element) => toPart(`${getBase(element)}${getValue(element, 'pos') === 'top' ? '\u0305' : '\u0332'}`),
  eqArr: (element) => toPart(getTexts(element, 'e').join('; ').replaceAll('&', '')),
  m: (element) => {
    const rows = findAll(element, 'mr').map((row) => getTexts(row, 'e').join(', '));
    return { kind: 'brackets', text: `[${rows.join('; ')}]` };
  },
};

/** A fraction without a bar is a binomial coefficient or the like. */
function readFraction(element: XmlElement): Part {
  const sign = getValue(element, 'type') === 'noBar' ? '¦' : '/';
  const [above, below] = [bracket(readArgument(element, 'num')), bracket(readArgument(element, 'den'))];
  return { kind: 'fraction', text: `(${above}${sign}${below})` };
}

function readScripts(element: XmlElement): Part {
  const scripts = getScripts(element);
  return toPart(`${getBase(element)}${/^\^\([°∘]\)$/.test(scripts) ? '°' : scripts}`);
}

/** The subscript and superscript of an element. */
function getScripts(element: XmlElement): string {
  const [sub, sup] = [readArgument(element, 'sub'), readArgument(element, 'sup')];
  return `${sub.text && `_${bracket(sub)}`}${sup.text && `^${bracket(sup)}`}`;
}

/** A root with a degree is a power, because a number before the sign of a root is a factor. */
function readRoot(element: XmlElement): Part {
  const degree = readArgument(element, 'deg');
  const base = readArgument(element, 'e');
  return toPart(degree.text ? `${enclose(base)}^(1/${bracket(degree)})` : `√${enclose(base)}`);
}

function readBrackets(element: XmlElement): Part {
  const [begin, end] = [getValue(element, 'begChr') ?? '(', getValue(element, 'endChr') ?? ')'];
  const contents = findAll(element, 'e').map((each) => join(readParts(each)));
  const text = contents.map((each) => each.text).join(getValue(element, 'sepChr') ?? '|');
  const isFraction = contents.length === 1 && contents[0]?.kind === 'fraction';
  if (begin === '(' && end === ')' && isFraction) return { kind: 'brackets', text };
  return { kind: begin && end ? 'brackets' : 'other', text: `${begin}${text}${end}` };
}

/** Joins parts. A space keeps apart what is one number or name without it, such as 2 and 1/2. */
function join(parts: readonly Part[]): Part {
  const all = parts.filter(({ text }) => text !== '');
  const [first] = all;
  if (first && all.length === 1) return first;
  const isPlain = all.every(({ kind }) => kind === 'plain');
  const text = all.reduce((before, part, at) => {
    const isText = part.kind === 'plain' && all[at - 1]?.kind === 'plain';
    const isClose =
      /[\p{L}\p{N}]$/u.test(before) && (part.kind === 'fraction' || /^[\p{L}\p{N}]/u.test(part.text));
    return `${before}${isClose && !isText ? ' ' : ''}${part.text}`;
  }, '');
  return { kind: isPlain ? 'plain' : 'other', text };
}

function toPart(text: string): Part {
  return { kind: 'other', text };
}

/** The base of a script or accent. Plain text needs no brackets, because Word shows none either. */
function getBase(element: XmlElement): string {
  const base = readArgument(element, 'e');
  return base.kind === 'plain' ? base.text : enclose(base);
}

/** A number, a letter or what has brackets as it is, anything else in brackets. */
function bracket(part: Part): string {
  return /^(\p{L}|\d+([.,]\d+)?)$/u.test(part.text) ? part.text : enclose(part);
}

function enclose({ kind, text }: Part): string {
  return kind === 'brackets' || kind === 'fraction' ? text : `(${text})`;
}

/** The content of an argument, such as the numerator of a fraction. */
function readArgument(element: XmlElement, local: string): Part {
  return join(findAll(element, local).flatMap(readParts));
}

function getTexts(element: XmlElement, local: string): string[] {
  return findAll(element, local).map((each) => join(readParts(each)).text);
}

function findAll({ children }: XmlElement, local: string): XmlElement[] {
  return children.filter(isElement).filter((child) => child.uri === M && child.local === local);
}

/** The value of a property; undefined if it is not set. */
function getValue(element: XmlElement, local: string): string | undefined {
  const properties = element.children.filter(isElement).find((child) => child.local === `${element.local}Pr`);
  const property = properties && findAll(properties, local)[0];
  return property && (attribute(property, 'val', M) ?? '');
}
