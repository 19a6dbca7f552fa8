/** Counts the items of lists as Word does, so that a list which continues after other text keeps its numbers. */
import { attribute, childrenW, childW, parseNumber, valueW, type XmlElement } from '#libs/opc';
import { readIndent } from './indent.ts';

/** The place of a paragraph in its list; `number` and `numerals` are those of an ordered list. */
export interface ListItem {
  /** The id of the definition of the list. */
  list: string;
  level: number;
  isOrdered: boolean;
  number: number;
  numerals: string;
}

/**
 * How Word marks a paragraph of a list: as an item, or by a text without a number, which can be empty. `indent` is that
 * of the level in twips, if the list sets it.
 */
export type ListMark = ({ item: ListItem } | { text: string }) & { indent: number | undefined };

interface Level {
  start: number;
  format: string;
  /** The mark if it has no number. */
  text: string | undefined;
  /** The level starts again after an item of one of this many levels above it. */
  restartsAfter: number;
  indent: number | undefined;
}

interface Definition {
  id: string;
  levels: Map<number, Level>;
  /** The number of the last item of each level. */
  counters: (number | undefined)[];
}

interface Instance {
  definition: Definition | undefined;
  overrides: Overrides;
  /** The levels that have an item. */
  used: Set<number>;
}

/** What an instance changes in its definition, by level. */
interface Overrides {
  levels: Map<number, Level>;
  starts: Map<number, number>;
}

const numerals: Record<string, string> = {
  ...{ lowerLetter: 'a', upperLetter: 'A', lowerRoman: 'i', upperRoman: 'I' },
};

/** A level without a definition. */
const bullet: Level = {
  ...{ start: 1, format: 'bullet', text: undefined, restartsAfter: Infinity, indent: undefined },
};

/** The deepest list level of Word. */
export const maxLevel = 8;

/** Reads the part with the lists; undefined if there is none. */
export function readNumbering(root: XmlElement | undefined) {
  const definitions = new Map<string, Definition>();
  // a definition may only name the style that has another one, and the two can refer to each other
  const links = new Map<string, string>();
  const styled = new Map<string, Definition>();
  for (const element of childrenW(root, 'abstractNum')) {
    const id = attribute(element, 'abstractNumId') ?? '';
    const definition = { id, levels: readLevels(element), counters: [] };
    definitions.set(id, definition);
    const [link, style] = [valueW(element, 'numStyleLink'), valueW(element, 'styleLink')];
    if (link !== undefined) links.set(id, link);
    else if (style !== undefined) styled.set(style, definition);
  }
  const instances = new Map<string, Instance>();
  for (const element of childrenW(root, 'num')) {
    const id = valueW(element, 'abstractNumId') ?? '';
    const definition = styled.get(links.get(id) ?? '') ?? definitions.get(id);
    const instance = { definition, overrides: readOverrides(element), used: new Set<number>() };
    instances.set(attribute(element, 'numId') ?? '', instance);
  }

  return {
    /** Counts the next paragraph of a list; undefined if there is no such list. */
    next(numId: string | undefined, level: number): ListMark | undefined {
      const instance = instances.get(numId ?? '');
      if (!instance?.definition) return undefined;
      const { definition, overrides, used } = instance;
      const at = Math.max(0, Math.min(level, maxLevel));
      const getLevel = (each: number) => overrides.levels.get(each) ?? definition.levels.get(each) ?? bullet;
      const { start, format, text, indent } = getLevel(at);
      const restart = overrides.starts.get(at);
      const { counters } = definition;
      // the instances of a definition continue each other, unless one sets where its level starts
      const last = restart !== undefined && !used.has(at) ? undefined : counters[at];
      const number = last === undefined ? (restart ?? start) : last + 1;
      used.add(at);
      counters[at] = number;
      for (let deeper = at + 1; deeper < counters.length; deeper += 1)
        if (at < getLevel(deeper).restartsAfter) counters[deeper] = undefined;
      if (text !== undefined) return { text, indent };
      const isOrdered = format !== 'bullet';
      const list = definition.id;
      return {
        item: { list, level: at, isOrdered, number, numerals: numerals[format] ?? '1' },
        indent,
      };
    },
  };
}

export type WordNumbering = ReturnType<typeof readNumbering>;

function readLevels(element: XmlElement): Map<number, Level> {
  const levels = new Map<number, Level>();
  for (const level of childrenW(element, 'lvl'))
    levels.set(parseNumber(attribute(level, 'ilvl')) ?? 0, readLevel(level));
  return levels;
}

function readLevel(level: XmlElement): Level {
  const format = valueW(level, 'numFmt') ?? 'decimal';
  return {
    start: parseNumber(valueW(level, 'start')) ?? 1,
    format,
    text: childW(level, 'lvlPicBulletId') ? undefined : findPlainText(format, valueW(level, 'lvlText')),
    restartsAfter: parseNumber(valueW(level, 'lvlRestart')) ?? Infinity,
    indent: readIndent(childW(level, 'pPr')),
  };
}

/** The text that a level has instead of bullets or numbers. */
function findPlainText(format: string, text: string | undefined): string | undefined {
  const hasNumber = text === undefined || /%\d/.test(text);
  // pandoc writes the second paragraph of an item as a bullet that is a space
  if (format === 'bullet') return text?.trim() === '' ? '' : undefined;
  if (format !== 'none' && hasNumber) return undefined;
  return hasNumber ? '' : text.trim();
}

function readOverrides(element: XmlElement): Overrides {
  const overrides: Overrides = { levels: new Map(), starts: new Map() };
  for (const override of childrenW(element, 'lvlOverride')) {
    const at = parseNumber(attribute(override, 'ilvl')) ?? 0;
    const [level, start] = [childW(override, 'lvl'), parseNumber(valueW(override, 'startOverride'))];
    if (level) overrides.levels.set(at, readLevel(level));
    if (start !== undefined) overrides.starts.set(at, start);
  }
  return overrides;
}
