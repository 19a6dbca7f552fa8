/** Renders the content of a paragraph: text with marks, breaks, links and pictures. */
import { escapeXml } from '#libs/opc';
import {
  type Direction,
  getColor,
  type Mark,
  type RichText,
  safeHref,
  splitByDirection,
  splitLeaves,
} from '#libs/rich-text';
import { addLink, type BodyWriter, findImage, type Position } from './body-writer.ts';
import { RTL } from './direction.ts';
import { renderPicture } from './picture.ts';

const TEXT_END = '</w:t></w:r>';
const TEXT_START = '<w:t xml:space="preserve">';

/** Renders a textblock; neighbours with one target share a link. `keepLines` keeps line breaks (code). */
export function renderRuns(
  writer: BodyWriter,
  leaves: RichText[],
  position: Position,
  keepLines = false,
): string {
  let out = '';
  let open: string | undefined;
  for (const { leaf, direction } of splitLeaves(leaves, position.direction)) {
    const href = getHref(writer, leaf);
    if (href !== open) {
      if (open !== undefined) out += '</w:hyperlink>';
      if (href !== undefined) out += `<w:hyperlink r:id="${addLink(writer, href)}" w:history="1">`;
      open = href;
    }
    out += renderRun(writer, leaf, { ...position, direction }, href !== undefined, keepLines);
  }
  return open === undefined ? out : `${out}</w:hyperlink>`;
}

/**
 * Renders plain text in a paragraph of this direction, a run for each direction of its words; `properties` is the
 * markup of run properties that come before `w:rtl`.
 */
export function renderTextRuns(text: string, paragraph: Direction = 'ltr', properties = ''): string {
  const runs = splitByDirection(text, paragraph).map((piece) => {
    const clean = escapeXml(piece.text.replace(/[\t\n\r]+/g, ' '));
    const markup = properties + (piece.direction === 'rtl' ? RTL : '');
    return clean === '' ? '' : `<w:r>${markup && `<w:rPr>${markup}</w:rPr>`}${TEXT_START}${clean}${TEXT_END}`;
  });
  return runs.join('');
}

/** Returns the target of a link mark, or of a web image: the image is linked, because nothing is fetched. */
function getHref({ assets }: BodyWriter, leaf: RichText): string | undefined {
  for (const mark of leaf.marks ?? []) {
    const href = mark.type === 'link' ? safeHref(mark.attrs?.href) : undefined;
    if (href !== undefined) return href;
  }
  if (leaf.type !== 'image' || findImage(assets, leaf.attrs?.src)) return undefined;
  return getRemoteSource(leaf);
}

/** Returns the address of a picture on the web; undefined for any other one. */
function getRemoteSource(leaf: RichText): string | undefined {
  const remote = safeHref(leaf.attrs?.src);
  return remote?.startsWith('http') ? remote : undefined;
}

function renderRun(
  writer: BodyWriter,
  leaf: RichText,
  position: Position,
  isLink: boolean,
  keepLines: boolean,
): string {
  if (leaf.type === 'hardBreak') return '<w:r><w:br/></w:r>';
  const properties = renderRunProperties(writer, leaf, position, isLink);
  if (leaf.type !== 'image') return renderText(leaf.text ?? '', properties, keepLines);
  const alt = getStringAttribute(leaf, 'alt') || getStringAttribute(leaf, 'title');
  const image = findImage(writer.assets, leaf.attrs?.src);
  if (image) return renderPicture(writer, leaf, image, alt, position);
  return renderText(alt || (isLink ? (getRemoteSource(leaf) ?? '[picture]') : ''), properties, false);
}

function renderText(value: string, properties: string, keepLines: boolean): string {
  if (value === '') return '';
  const markup = properties && `<w:rPr>${properties}</w:rPr>`;
  if (!/[\t\n\r]/.test(value)) return `<w:r>${markup}${TEXT_START}${escapeXml(value)}${TEXT_END}`;
  const plain = keepLines ? value.replace(/\r\n?/g, '\n') : value.replace(/[\t\n\r]+/g, ' ');
  const inner = plain
    .split(/([\t\n])/)
    .map((piece) => {
      if (piece === '\t') return '<w:tab/>';
      if (piece === '\n') return '<w:br/>';
      return piece === '' ? '' : `${TEXT_START}${escapeXml(piece)}</w:t>`;
    })
    .join('');
  return `<w:r>${markup}${inner}</w:r>`;
}

/** Renders run properties in schema order (ECMA-376 part 1, 17.3.2.28, CT_RPr). */
function renderRunProperties(
  writer: BodyWriter,
  leaf: RichText,
  position: Position,
  isLink: boolean,
): string {
  const { marks = [] } = leaf;
  const { head, fontSize } = position.context;
  const rtl = position.direction === 'rtl' ? RTL : '';
  if (marks.length === 0 && !isLink && !head && fontSize === undefined) return rtl;
  const has = (type: string) => marks.some((mark) => mark.type === type);
  const isCode = has('code');
  const color = getColor(leaf)?.slice(1).toUpperCase();
  const highlight = marks.find((mark) => mark.type === 'highlight');
  const fill = highlight ? getHighlightColor(highlight) : isCode ? 'F2F2F2' : undefined;
  return (
    (isLink ? `<w:rStyle w:val="${escapeXml(writer.plan.styles.link.id)}"/>` : '') +
    (isCode ? '<w:rFonts w:ascii="Consolas" w:hAnsi="Consolas" w:cs="Courier New"/>' : '') +
    (has('bold') || head ? '<w:b/><w:bCs/>' : '') +
    (has('italic') ? '<w:i/><w:iCs/>' : '') +
    (has('strike') ? '<w:strike/>' : '') +
    (isCode ? '<w:noProof/>' : '') +
    (color ? `<w:color w:val="${color}"/>` : '') +
    (fontSize === undefined ? '' : renderFontSize(fontSize)) +
    (highlight && !fill ? '<w:highlight w:val="yellow"/>' : '') +
    (has('underline') ? '<w:u w:val="single"/>' : '') +
    (fill ? `<w:shd w:val="clear" w:color="auto" w:fill="${fill}"/>` : '') +
    (has('superscript') ? '<w:vertAlign w:val="superscript"/>' : '') +
    (has('subscript') && !has('superscript') ? '<w:vertAlign w:val="subscript"/>' : '') +
    rtl
  );
}

/** Renders a font size; `points` is a multiple of 0.5. */
export function renderFontSize(points: number): string {
  return `<w:sz w:val="${points * 2}"/><w:szCs w:val="${points * 2}"/>`;
}

/** Returns a highlight's colour as RRGGBB if it is #rgb or #rrggbb. */
function getHighlightColor(mark: Mark): string | undefined {
  const color = typeof mark.attrs?.color === 'string' ? mark.attrs.color.trim() : '';
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(color);
  if (short)
    return short
      .slice(1)
      .map((digit) => digit + digit)
      .join('')
      .toUpperCase();
  return /^#[0-9a-f]{6}$/i.test(color) ? color.slice(1).toUpperCase() : undefined;
}

function getStringAttribute(leaf: RichText, name: string): string {
  const value = leaf.attrs?.[name];
  return typeof value === 'string' ? value.trim() : '';
}
