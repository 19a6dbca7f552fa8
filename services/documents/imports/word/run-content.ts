/** Turns the texts, breaks and symbols of runs into inline content of an HTML tree. */
import { codePoint } from 'dingbat-to-unicode';
import { attribute, getText, isW, type XmlElement } from '#libs/opc';
import { createHastElement } from '#libs/rich-text';
import type { Content } from './block-tree.ts';
import type { RunFormat } from './word-styles.ts';

/** Wraps content in the elements of its formatting. */
export function wrap(content: Content[number], format: RunFormat): Content[number] {
  const { b, i, u, strike, dstrike, highlight, vertAlign } = format;
  // from the innermost to the outermost
  const tags = [
    highlight && 'mark',
    (strike || dstrike) && 's',
    u && 'u',
    vertAlign === 'subscript' && 'sub',
    vertAlign === 'superscript' && 'sup',
    i && 'em',
    b && 'strong',
  ];
  return tags.reduce((inner, tag) => (tag ? createHastElement(tag, {}, [inner]) : inner), content);
}

/** Whether a page or column ends at a child of a run. */
export function isPageEnd(child: XmlElement): boolean {
  return isW(child, 'br') && (attribute(child, 'type') ?? 'textWrapping') !== 'textWrapping';
}

/** The content of a child of a run in this font; undefined if rich text cannot contain it. */
export function readRunContent(child: XmlElement, font: string): Content[number] | undefined {
  // LibreOffice writes symbols as text
  if (isW(child, 't'))
    return toText(
      getText(child).replace(
        /[\uF000-\uF0FF]/g,
        (symbol) => readSymbol(font, symbol.charCodeAt(0)) || symbol,
      ),
    );
  if (isW(child, 'tab', 'ptab')) return toText('\t');
  if (isW(child, 'br', 'cr')) return createHastElement('br');
  if (isW(child, 'noBreakHyphen')) return toText('\u2011');
  if (!isW(child, 'sym')) return undefined;
  return toText(
    readSymbol(attribute(child, 'font') ?? '', Number.parseInt(attribute(child, 'char') ?? '', 16)),
  );
}

/** The Unicode character of a symbol, or '' if it is unknown. Word adds F000 to the codes of symbol fonts. */
export function readSymbol(font: string, code: number): string {
  const found = codePoint(font, code) ?? (code >> 8 === 0xf0 ? codePoint(font, code & 0xff) : undefined);
  return found?.string ?? '';
}

/** Creates a text node. */
export function toText(value: string): Content[number] {
  return { type: 'text', value };
}
