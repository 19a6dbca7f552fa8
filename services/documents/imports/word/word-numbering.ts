/** Counts the items of lists as Word does, so that a list which continues after other text keeps its numbers. */
import { attribute, childrenW, childW, parseNumber, valueW, type XmlElement } from '#libs/opc';

/** The place of a paragraph in its list; `number` and `numerals` are those of an ordered list. */
export interface ListItem {
  level: number;
  isOrdered: boolean;
  number: number;
  numerals: string;
}

interface Level {
  start: number;
  format: string;
}

interface Definition {
  levels: Map<number, Level>;
  /** The number of the last item of each level. */
  counters: (number | undefined)[];
}

interface Instance {
  definition: Definition | undefined;
  overrides: Map<number, number>;
  isUsed: boolean;
}

const numerals: Record<string, string> = {
  ...{ lowerLetter: 'a', upperLetter: 'A', lowerRoman: 'i', upperRoman: 'I' },
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
    const definition = { levels: readLevels(element), counters: [] };
    definitions.set(id, definition);
    const [link, style] = [valueW(element, 'numStyleLink'), valueW(element, 'styleLink')];
    if (link !== undefined) links.set(id, link);
    else if (style !== undefined) styled.set(style, definition);
  }
  const instances = new Map<string, Instance>();
  for (const element of childrenW(root, 'num')) {
    const id = valueW(element, 'abstractNumId') ?? '';
    const definition = styled.get(links.get(id) ?? '') ?? definitions.get(id);
    instances.set(attribute(element, 'numId') ?? '', {
      definition,
      overrides: readOverrides(element),
      isUsed: false,
    });
  }

  return {
    /** Counts the next item of a list; undefined if there is no such list or it has no marks. */
    next(numId: string | undefined, level: number): ListItem | undefined {
      const instance = instances.get(numId ?? '');
      if (!instance?.definition) return undefined;
      const { levels, counters } = instance.definition;
      const at = Math.max(0, Math.min(level, maxLevel));
      const { start, format } = levels.get(at) ?? { start: 1, format: 'bullet' };
      if (!instance.isUsed) for (const [key, first] of instance.overrides) counters[key] = first - 1;
      instance.isUsed = true;
      const number = (counters[at] ?? start - 1) + 1;
      counters[at] = number;
      counters.length = at + 1;
      if (format === 'none') return undefined;
      return { level: at, isOrdered: format !== 'bullet', number, numerals: numerals[format] ?? '1' };
    },
  };
}

export type WordNumbering = ReturnType<typeof readNumbering>;

function readLevels(element: XmlElement): Map<number, Level> {
  const levels = new Map<number, Level>();
  for (const level of childrenW(element, 'lvl')) {
    const at = parseNumber(attribute(level, 'ilvl')) ?? 0;
    levels.set(at, {
      start: parseNumber(valueW(level, 'start')) ?? 1,
      format: valueW(level, 'numFmt') ?? 'decimal',
    });
  }
  return levels;
}

function readOverrides(element: XmlElement): Map<number, number> {
  const overrides = new Map<number, number>();
  for (const override of childrenW(element, 'lvlOverride')) {
    const start = parseNumber(attribute(childW(override, 'startOverride'), 'val'));
    const level = parseNumber(attribute(override, 'ilvl')) ?? 0;
    if (start !== undefined && level >= 0 && level <= maxLevel) overrides.set(level, start);
  }
  return overrides;
}
