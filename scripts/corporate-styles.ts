/** Word styles of the fictional Aldermoor Bank: colours, numbered headings, bullets and tables. */

export const GREEN = '0B4F4A';
export const AMBER = 'C8812B';
export const GREY = '5B6770';
const LINE = 'B9C7C5';

/** Namespace of WordprocessingML. */
export const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
/** First line of each part of the package. */
export const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

function style(id: string, name: string, properties: string, basedOn = 'Normal', next = 'Normal'): string {
  return `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:basedOn w:val="${basedOn}"/><w:next w:val="${next}"/><w:qFormat/>${properties}</w:style>`;
}

function heading(level: number, size: number, before: number): string {
  const form =
    `<w:pPr><w:keepNext/><w:keepLines/><w:numPr><w:ilvl w:val="${level - 1}"/><w:numId w:val="1"/></w:numPr>` +
    `<w:spacing w:before="${before}" w:after="120"/><w:outlineLvl w:val="${level - 1}"/></w:pPr>` +
    `<w:rPr><w:rFonts w:ascii="Cambria" w:hAnsi="Cambria" w:cs="Cambria"/><w:b/><w:color w:val="${GREEN}"/><w:sz w:val="${size}"/></w:rPr>`;
  return style(`AldermoorHeading${level}`, `heading ${level}`, form);
}

const list = (numId: number) =>
  `<w:pPr><w:numPr><w:numId w:val="${numId}"/></w:numPr><w:spacing w:after="60"/><w:contextualSpacing/></w:pPr>`;
const grid = ['top', 'left', 'bottom', 'right', 'insideH', 'insideV']
  .map((side) => `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="${LINE}"/>`)
  .join('');
const MARGINS =
  '<w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar>';

/** The part styles.xml. Word knows the names of built-in styles, but not these ids. */
export const STYLES =
  `${HEAD}<w:styles xmlns:w="${W}"><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="Calibri" w:cs="Calibri"/>` +
  '<w:color w:val="26323A"/><w:sz w:val="21"/><w:szCs w:val="21"/><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault>' +
  '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="271" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>' +
  '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/></w:style>' +
  '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont"><w:name w:val="Default Paragraph Font"/></w:style>' +
  `<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/>${MARGINS}</w:tblPr></w:style>` +
  `<w:style w:type="table" w:styleId="AldermoorGrid"><w:name w:val="Table Grid"/><w:basedOn w:val="TableNormal"/><w:tblPr><w:tblBorders>${grid}</w:tblBorders></w:tblPr></w:style>` +
  style(
    'AldermoorTitle',
    'Title',
    '<w:pPr><w:spacing w:before="0" w:after="120" w:line="240" w:lineRule="auto"/></w:pPr>' +
      `<w:rPr><w:rFonts w:ascii="Cambria" w:hAnsi="Cambria" w:cs="Cambria"/><w:b/><w:color w:val="${GREEN}"/><w:sz w:val="60"/></w:rPr>`,
  ) +
  heading(1, 34, 480) +
  heading(2, 27, 320) +
  heading(3, 23, 240) +
  style('AldermoorBullet', 'List Bullet', list(2)) +
  style('AldermoorNumber', 'List Number', list(3)) +
  style(
    'AldermoorQuote',
    'Quote',
    `<w:pPr><w:pBdr><w:left w:val="single" w:sz="24" w:space="10" w:color="${AMBER}"/></w:pBdr><w:ind w:left="284"/></w:pPr><w:rPr><w:i/><w:color w:val="${GREY}"/></w:rPr>`,
  ) +
  `<w:style w:type="character" w:styleId="AldermoorLink"><w:name w:val="Hyperlink"/><w:rPr><w:color w:val="${AMBER}"/><w:u w:val="single"/></w:rPr></w:style>` +
  '</w:styles>';

type Level = { format: string; text: string; left: number; hanging: number; form?: string; style?: string };

function numbering(id: number, levels: Level[]): string {
  const level = ({ format, text, left, hanging, form = '', style: linked }: Level, at: number) =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${linked ? `<w:pStyle w:val="${linked}"/>` : ''}<w:lvlText w:val="${text}"/><w:lvlJc w:val="left"/>` +
    `<w:pPr><w:ind w:left="${left}" w:hanging="${hanging}"/></w:pPr>${form && `<w:rPr>${form}</w:rPr>`}</w:lvl>`;
  return `<w:abstractNum w:abstractNumId="${id}"><w:nsid w:val="4A1D00${id}0"/><w:multiLevelType w:val="multilevel"/>${levels.map(level).join('')}</w:abstractNum>`;
}

const HEADINGS: Level[] = ['%1', '%1.%2', '%1.%2.%3'].map((text, at) => ({
  format: 'decimal',
  text,
  left: 624 + at * 142,
  hanging: 624 + at * 142,
  style: `AldermoorHeading${at + 1}`,
}));
const BULLETS: Level[] = ['■', '–', '▫'].map((text, at) => ({
  format: 'bullet',
  text,
  left: 397 * (at + 1),
  hanging: 397,
  form: `<w:color w:val="${AMBER}"/>${at === 0 ? '<w:sz w:val="16"/>' : ''}`,
}));
const NUMBERS: Level[] = [
  ['decimal', '%1.'],
  ['lowerLetter', '%2)'],
  ['lowerRoman', '%3.'],
].map(([format = '', text = ''], at) => ({
  format,
  text,
  left: 397 * (at + 1),
  hanging: 397,
  form: `<w:b/><w:color w:val="${GREEN}"/>`,
}));
/** The part numbering.xml: headings, bullets and numbers. */
export const NUMBERING =
  `${HEAD}<w:numbering xmlns:w="${W}">${[HEADINGS, BULLETS, NUMBERS].map((levels, at) => numbering(at + 1, levels)).join('')}` +
  `${[1, 2, 3].map((id) => `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`).join('')}</w:numbering>`;
