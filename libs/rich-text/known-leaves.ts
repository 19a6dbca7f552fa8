/** Declares the nodes inside of blocks that renderers know: text, images, mentions, formulas. */
import { getAssetId } from './asset.ts';
import { getAttributeText } from './attribute-text.ts';
import { parseImage, parsePageImage } from './image.ts';
import { anyValue, type KnownNode, type Loss, stringValue } from './known-types.ts';
import { safeHref } from './link.ts';
import type { RichText } from './tree.ts';

const text = (value: string): RichText => ({ type: 'text', text: value });
const inParagraph = (...content: RichText[]): RichText => ({ type: 'paragraph', content });
const math = {
  latex: stringValue('The formula'),
  text: stringValue('The formula, if `latex` is missing'),
};
const pixel = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAIBAAA=';

/** The nodes inside of blocks, in the order of the docs; a formula can also be a block. */
export const knownLeaves: readonly KnownNode[] = [
  {
    type: 'text',
    aliases: [],
    attributes: {},
    page: 'the text with its marks',
    word: 'the text with its marks',
    markdown: 'the text',
    example: inParagraph(text('Close the valve.')),
  },
  {
    type: 'hardBreak',
    aliases: ['hard_break'],
    attributes: {},
    page: 'a line break',
    word: 'a line break',
    markdown: 'a line break',
    html: '<br',
    example: inParagraph(text('First line'), { type: 'hardBreak' }, text('second line')),
  },
  {
    type: 'image',
    aliases: [],
    attributes: {
      src: anyValue(
        'A `data:` URI of a PNG, JPEG, GIF or WebP (base64, at most 100 megapixels), `asset:<id>` for an uploaded picture, or an https URL',
      ),
      alt: stringValue('Text that stands for the image'),
      title: stringValue('The caption in Word; the page shows it when the pointer is over the image'),
      width: anyValue('Width on the page and in Word, pixels'),
      height: anyValue('Height in Word, and on the page if there is no `width`, pixels'),
    },
    page: 'an embedded image; an https URL becomes a link with the text of `alt`',
    word: 'an embedded image except WebP; an https URL becomes a link with the text of `alt`',
    markdown: 'the text of `alt`',
    gfm: 'an embedded image; an https URL becomes a link, an uploaded picture the text of `alt`',
    html: '<img',
    example: { type: 'image', attrs: { src: pixel, alt: 'The main valve' } },
    findLoss: findImageLoss,
  },
  {
    type: 'mention',
    aliases: [],
    attributes: {
      label: stringValue('The name'),
      id: anyValue('The name, if `label` is missing: a string or a number'),
      text: stringValue('The name, if `label` and `id` are missing'),
    },
    page: 'the name',
    word: 'the name',
    markdown: 'the name',
    example: inParagraph({ type: 'mention', attrs: { id: '7', label: 'Ana Ruiz' } }),
    findLoss: findTextLoss,
  },
  {
    type: 'inlineMath',
    aliases: ['mathematics', 'math_inline'],
    attributes: math,
    page: 'the formula as LaTeX',
    word: 'the formula as LaTeX',
    markdown: 'the formula as LaTeX',
    gfm: 'the formula as code',
    html: '<code',
    example: inParagraph({ type: 'inlineMath', attrs: { latex: 'p = 3' } }),
    findLoss: findTextLoss,
  },
  {
    type: 'blockMath',
    aliases: ['math_display'],
    attributes: math,
    page: 'the formula as LaTeX, in its own paragraph',
    word: 'the formula as LaTeX, in its own paragraph',
    markdown: 'the formula as LaTeX, in its own paragraph',
    gfm: 'the formula as code',
    html: '<code',
    example: { type: 'blockMath', attrs: { latex: 'q = 4' } },
    findLoss: findTextLoss,
  },
];

function findImageLoss({ attrs }: RichText): Loss | undefined {
  if (parseImage(attrs?.src) || getAssetId(attrs?.src) !== undefined) return undefined;
  const isRemote = safeHref(attrs?.src)?.startsWith('http');
  const shown = parsePageImage(attrs?.src)
    ? 'Word shows the text of `alt` instead of a WebP.'
    : `${isRemote ? 'A remote image becomes a link' : 'The text of `alt` is shown instead of this image'}.`;
  return {
    code: 'image_not_shown',
    message: `${shown} Upload a PNG, JPEG or GIF, or embed it as a base64 data: URI`,
  };
}

function findTextLoss(node: RichText): Loss | undefined {
  if (node.text || node.content?.length || getAttributeText(node) !== '') return undefined;
  return { code: 'no_text', message: 'Nothing is shown, because the attributes contain no text' };
}
