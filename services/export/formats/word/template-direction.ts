/** Gives the template's paragraphs around the body the direction of their text. */
import { getDirection } from '#libs/rich-text';
import { RTL } from './direction.ts';

/**
 * Fills a part of the template with `fill`. A paragraph that then begins with a letter from right to left gets this
 * direction, unless it has tabs, with which its author has placed text at both sides. With `isMirrored`, all
 * paragraphs and tables get it. Runs have the direction of their text.
 */
export function fillWithDirection(
  template: string,
  fill: (text: string) => string,
  { isMirrored }: { isMirrored: boolean },
): string {
  const xml = isMirrored ? template.replace(TABLE_START, '$&<w:bidiVisual/>') : template;
  let out = '';
  let end = 0;
  // each piece is filled once, so that text in a value is never taken for a slot
  for (const { index, 0: paragraph } of xml.matchAll(PARAGRAPH)) {
    out += fill(xml.slice(end, index)) + directParagraph(fill(paragraph), { paragraph, isMirrored });
    end = index + paragraph.length;
  }
  return out + fill(xml.slice(end));
}

/** A paragraph that contains no other one. */
const PARAGRAPH = /<w:p(?: [^>]*[^/>])?>(?:(?!<w:p[ >]).)*?<\/w:p>/gs;
const RUN = /<w:r(?: [^>]*[^/>])?>.*?<\/w:r>/gs;
/** The start of a table, up to the place of its direction. */
const TABLE_START = /<w:tblPr>(?:<w:tblStyle [^>]*>)?/g;
/** What comes after the direction in the properties of a paragraph and of a run (ECMA-376 part 1, A.1). */
const AFTER_BIDI =
  /<w:(?:adjustRightInd|snapToGrid|spacing|ind|contextualSpacing|mirrorIndents|suppressOverlap|jc|textDirection|textAlignment|textboxTightWrap|outlineLvl|divId|cnfStyle|rPr|sectPr|pPrChange)[ />]|<\/w:pPr>/;
const AFTER_RTL = /<w:(?:cs|em|lang|eastAsianLayout|specVanish|oMath|rPrChange)[ />]|<\/w:rPr>/;

function directParagraph(
  filled: string,
  { paragraph, isMirrored }: { paragraph: string; isMirrored: boolean },
): string {
  if (!isMirrored && filled === paragraph) return filled;
  const hasTabs = filled.includes('<w:tab/>');
  const isRtl = isMirrored || (!hasTabs && getDirection(getText(filled)) === 'rtl');
  const directed = isRtl ? directRuns(filled).replace(LAST_FIELD, `$&${LTR_MARK}`) : directRuns(filled);
  if (!isRtl) return directed;
  return editProperties(directed, 'pPr', (properties) => {
    if (/<w:bidi[ />]/.test(properties)) return properties;
    const bidi = properties.replace(AFTER_BIDI, '<w:bidi/>$&');
    // text stays on its side, unless the whole page is mirrored
    return isMirrored ? bidi : bidi.replace(/(?<=<w:jc w:val=")(?:left|right)(?=")/, swapSide);
  });
}

function directRuns(paragraph: string): string {
  return paragraph.replace(RUN, (run) => {
    if (getDirection(getText(run)) !== 'rtl') return run;
    return editProperties(run, 'rPr', (properties) =>
      /<w:rtl[ />]/.test(properties) ? properties : properties.replace(AFTER_RTL, `${RTL}$&`),
    );
  });
}

/** A number in a field at the end of a line. LibreOffice would print it before the words. */
const LAST_FIELD = /<w:fldChar w:fldCharType="end"\/><\/w:r>(?=<\/w:p>)/;
const LTR_MARK = '<w:r><w:t>\u200E</w:t></w:r>';

/** Edits the properties of a paragraph or run, which are its first child; adds them if it has none. */
function editProperties(element: string, name: 'pPr' | 'rPr', edit: (properties: string) => string): string {
  const [start = ''] = /^<[^>]+>/.exec(element) ?? [];
  const rest = element.slice(start.length);
  const end = `</w:${name}>`;
  if (!rest.startsWith(`<w:${name}>`)) {
    const without = rest.startsWith(`<w:${name}/>`) ? rest.slice(`<w:${name}/>`.length) : rest;
    return start + edit(`<w:${name}>${end}`) + without;
  }
  const to = rest.indexOf(end) + end.length;
  return start + edit(rest.slice(0, to)) + rest.slice(to);
}

/**
 * Gives text of complex scripts the bold, italic and size of other text. Templates for other languages may set them
 * for that only.
 */
export function completeFormats(xml: string): string {
  return xml.replace(/<w:rPr>.*?<\/w:rPr>/gs, (properties) => {
    let markup = properties;
    for (const name of ['b', 'i', 'sz'])
      if (!markup.includes(`<w:${name}Cs`))
        markup = markup.replace(new RegExp(`<w:${name}((?: [^>]*)?/>)`), `$&<w:${name}Cs$1`);
    return markup;
  });
}

const swapSide = (side: string) => (side === 'left' ? 'right' : 'left');

/** The text that is shown, not that of fields; without `&amp;` and other references, whose letters are none of it. */
function getText(xml: string): string {
  const texts = Array.from(xml.matchAll(/<w:t(?: [^>]*)?>([^<]*)/g), ([, text = '']) => text);
  return texts.join('').replace(/&[^;]+;/g, '');
}
