/** The styles and lists of the built-in template. */
import {
  AlignmentType,
  type INumberingOptions,
  type IStylesOptions,
  LevelFormat,
  LineRuleType,
  TabStopType,
} from 'docx';

/** The text width of an A4 page with margins of one inch, in twips. */
export const TEXT_WIDTH = 9_026;

/** A font that every system has, or one with the same widths. The page numbers of the contents rely on them. */
const FONT = 'Arial';
const INK = '1F2933';
const MUTED = '4A5560';

/** The indent of each level of nodes, twips. It is that of the text below a heading. */
const NODE_INDENT = 720;
/** The width of the numbers of headings, twips. */
const NUMBER_WIDTHS = [540, 600, 720];

/** Creates the styles. */
export function createStyles(): IStylesOptions {
  const heading = (size: number, before: number, level?: number) => ({
    run: { font: FONT, size, bold: true, color: INK },
    paragraph: {
      spacing: { before, after: 100 },
      keepNext: true,
      keepLines: true,
      ...(level === undefined ? {} : { numbering: { reference: 'headings', level, instance: 0 } }),
    },
  });
  return {
    default: {
      document: {
        run: { font: FONT, size: 20, color: INK },
        paragraph: { spacing: { after: 120, line: 269, lineRule: LineRuleType.AUTO } },
      },
      title: {
        run: { font: FONT, size: 48, bold: true, color: INK },
        paragraph: { spacing: { after: 160 } },
      },
      heading1: heading(30, 360, 0),
      heading2: heading(25, 260, 1),
      heading3: heading(21, 200, 2),
      heading4: heading(20, 160),
      heading5: { ...heading(20, 160), run: { ...heading(20, 160).run, italics: true } },
      heading6: { ...heading(20, 160), run: { ...heading(20, 160).run, bold: false, italics: true } },
    },
    // the library bases its character styles on this style but does not write it
    characterStyles: [{ id: 'DefaultParagraphFont', name: 'Default Paragraph Font' }],
    paragraphStyles: [
      createListStyle('ListBullet', 'List Bullet', 'bullets'),
      createListStyle('ListNumber', 'List Number', 'numbers'),
      {
        ...{ id: 'Caption', name: 'caption', basedOn: 'Normal', quickFormat: true },
        run: { size: 17, italics: true, color: MUTED },
        paragraph: { spacing: { after: 160 } },
      },
      {
        ...{ id: 'TOCHeading', name: 'TOC Heading', basedOn: 'Normal', next: 'Normal' },
        run: { size: 25, bold: true },
        paragraph: { spacing: { before: 240, after: 100 }, keepNext: true },
      },
      createContentsStyle(1, 0, 480, 60),
      createContentsStyle(2, 480, 600, 0),
    ],
  };
}

/** Creates the style of an entry in the contents: its number hangs left of the title, the page is on the right. */
function createContentsStyle(level: number, indent: number, hanging: number, before: number) {
  const left = indent + hanging;
  return {
    ...{ id: `TOC${level}`, name: `toc ${level}`, basedOn: 'Normal', next: 'Normal' },
    paragraph: {
      spacing: { before, after: 0 },
      indent: { left, hanging },
      tabStops: [
        { type: TabStopType.LEFT, position: left },
        { type: TabStopType.RIGHT, position: TEXT_WIDTH, leader: 'dot' as const },
      ],
    },
  };
}

function createListStyle(id: string, name: string, reference: string) {
  return {
    id,
    name,
    basedOn: 'Normal',
    quickFormat: true,
    paragraph: { numbering: { reference, level: 0, instance: 0 }, contextualSpacing: true },
  };
}

/** Creates the bullets, the numbers of lists, and those of headings as on the public page: 1, 1.1, 1.1.1. */
export function createNumbering(): INumberingOptions {
  const headings = NUMBER_WIDTHS.map((hanging, level) => ({
    level,
    format: LevelFormat.DECIMAL,
    text: HEADING_NUMBERS[level] ?? '',
    alignment: AlignmentType.LEFT,
    style: { paragraph: { indent: { left: level * NODE_INDENT + hanging, hanging } } },
  }));
  return {
    config: [
      { reference: 'bullets', levels: createLevels(BULLETS) },
      { reference: 'numbers', levels: createLevels(NUMBERS) },
      { reference: 'headings', levels: headings },
    ],
  };
}

const HEADING_NUMBERS = ['%1', '%1.%2', '%1.%2.%3'];

/**
 * Links the levels of the headings' list to the styles. Word ignores the level in a style and finds it through this
 * link (ECMA-376 part 1, 17.9.23), which the library cannot write.
 */
export function linkHeadingNumbers(numbering: string): string {
  return numbering.replace(/<w:abstractNum .*?<\/w:abstractNum>/gs, (list) => {
    if (!list.includes(`<w:lvlText w:val="${HEADING_NUMBERS[2]}"/>`)) return list;
    return list
      .replace('"hybridMultilevel"', '"multilevel"')
      .replace(/<w:lvl w:ilvl="([0-2])".*?<w:numFmt [^>]*\/>/gs, (level, at: string) => {
        return `${level}<w:pStyle w:val="Heading${Number(at) + 1}"/>`;
      });
  });
}

type LevelNumber = { format: (typeof LevelFormat)[keyof typeof LevelFormat]; text?: string };

const BULLETS: LevelNumber[] = ['•', '–', '▪'].map((text) => ({ format: LevelFormat.BULLET, text }));
const NUMBERS: LevelNumber[] = [
  { format: LevelFormat.DECIMAL },
  { format: LevelFormat.LOWER_LETTER },
  { format: LevelFormat.LOWER_ROMAN },
];

/** Creates nine levels that cycle through `numbers`; a level without text is numbered (`%1.`). */
function createLevels(numbers: LevelNumber[]) {
  return Array.from({ length: 9 }, (_level, level) => {
    const { format = LevelFormat.DECIMAL, text = `%${level + 1}.` } = numbers[level % numbers.length] ?? {};
    const indent = { left: 360 * (level + 1), hanging: 360 };
    return { level, format, text, alignment: AlignmentType.LEFT, style: { paragraph: { indent } } };
  });
}
