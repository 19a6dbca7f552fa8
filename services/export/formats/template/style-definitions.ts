/** The styles that an export uses, with the definition to add to a template without the style. */
import { escapeXml } from '#libs/opc';

/** What a style is used for. */
export type StyleRole =
  | 'title'
  | 'heading1'
  | 'heading2'
  | 'heading3'
  | 'heading4'
  | 'heading5'
  | 'heading6'
  | 'bullet'
  | 'number'
  | 'quote'
  | 'code'
  | 'caption'
  | 'link';

/** A style; `left` is its own indent in twips, `isNumbered` is true if its paragraphs are numbered. */
export type StyleInfo = { id: string; left: number; isNumbered: boolean };

/** The styles of a template by their role. */
export type StyleInfos = Record<StyleRole, StyleInfo>;

/** A style and its default definition. */
type StyleDefinition = {
  role: StyleRole;
  /** The built-in name, which files contain in every language of Word, in lower case. */
  name: string;
  type: 'paragraph' | 'character';
  /**
   * Returns the markup of the style with this id; `styles` has the styles defined before it, `normal` is the id of the
   * template's default style.
   */
  define(id: string, styles: StyleInfos, normal: string | undefined): string;
};

/** All styles; a style may be based on an earlier one. */
export const STYLES: StyleDefinition[] = [
  defineParagraphStyle(
    'title',
    'title',
    'Title',
    '<w:pPr><w:spacing w:after="240"/></w:pPr><w:rPr><w:b/><w:sz w:val="48"/><w:szCs w:val="48"/></w:rPr>',
  ),
  defineHeadingStyle(1, undefined, '<w:b/><w:sz w:val="32"/><w:szCs w:val="32"/>'),
  defineHeadingStyle(2, undefined, '<w:b/><w:sz w:val="28"/><w:szCs w:val="28"/>'),
  defineHeadingStyle(3, undefined, '<w:b/><w:sz w:val="24"/><w:szCs w:val="24"/>'),
  defineHeadingStyle(4, 'heading3', '<w:b/><w:sz w:val="22"/><w:szCs w:val="22"/>'),
  defineHeadingStyle(5, 'heading3', '<w:b/><w:i/><w:sz w:val="22"/><w:szCs w:val="22"/>'),
  defineHeadingStyle(6, 'heading3', '<w:b w:val="0"/><w:i/><w:sz w:val="22"/><w:szCs w:val="22"/>'),
  defineParagraphStyle('bullet', 'list bullet', 'List Bullet', '<w:pPr><w:contextualSpacing/></w:pPr>'),
  defineParagraphStyle('number', 'list number', 'List Number', '<w:pPr><w:contextualSpacing/></w:pPr>'),
  defineParagraphStyle(
    'quote',
    'quote',
    'Quote',
    '<w:pPr><w:pBdr><w:left w:val="single" w:sz="18" w:space="8" w:color="BFBFBF"/></w:pBdr></w:pPr>' +
      '<w:rPr><w:i/><w:iCs/><w:color w:val="404040"/></w:rPr>',
  ),
  defineParagraphStyle(
    'code',
    'html preformatted',
    'HTML Preformatted',
    '<w:pPr><w:shd w:val="clear" w:color="auto" w:fill="F2F2F2"/><w:ind w:firstLine="0"/><w:jc w:val="left"/></w:pPr>' +
      '<w:rPr><w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/><w:noProof/><w:sz w:val="19"/><w:szCs w:val="19"/></w:rPr>',
  ),
  defineParagraphStyle(
    'caption',
    'caption',
    'caption',
    '<w:pPr><w:spacing w:after="160"/></w:pPr><w:rPr><w:i/><w:iCs/><w:color w:val="4A5560"/><w:sz w:val="18"/><w:szCs w:val="18"/></w:rPr>',
  ),
  {
    role: 'link',
    name: 'hyperlink',
    type: 'character',
    define: (id) =>
      `<w:style w:type="character" w:styleId="${id}"><w:name w:val="Hyperlink"/><w:uiPriority w:val="99"/><w:unhideWhenUsed/>` +
      '<w:rPr><w:color w:val="0563C1"/><w:u w:val="single"/></w:rPr></w:style>',
  },
];

function defineParagraphStyle(
  role: StyleRole,
  name: string,
  displayName: string,
  markup: string,
): StyleDefinition {
  return {
    role,
    name,
    type: 'paragraph',
    define: (id, _styles, normal) =>
      `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${displayName}"/>${renderBase(normal)}<w:qFormat/>${markup}</w:style>`,
  };
}

/** Defines a heading. Levels 4 to 6 are inside a node's text: based on heading 3, without a number. */
function defineHeadingStyle(
  level: number,
  base: StyleRole | undefined,
  runProperties: string,
): StyleDefinition {
  const role = `heading${level}` as StyleRole; // level is 1 to 6
  const isInner = base !== undefined;
  return {
    role,
    name: `heading ${level}`,
    type: 'paragraph',
    define: (id, styles, normal) =>
      `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="heading ${level}"/>` +
      renderBase(isInner ? styles[base].id : normal) +
      '<w:uiPriority w:val="9"/><w:qFormat/><w:pPr><w:keepNext/><w:keepLines/>' +
      (isInner ? '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>' : '') +
      `<w:spacing w:before="${isInner ? 160 : 280}" w:after="80"/>` +
      (isInner ? '<w:ind w:left="0" w:firstLine="0"/>' : '') +
      `<w:outlineLvl w:val="${level - 1}"/></w:pPr><w:rPr>${runProperties}</w:rPr></w:style>`,
  };
}

function renderBase(id: string | undefined): string {
  return id === undefined ? '' : `<w:basedOn w:val="${escapeXml(id)}"/>`;
}
