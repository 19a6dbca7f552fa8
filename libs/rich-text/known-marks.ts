/** Declares the marks that renderers know: names, attributes, and what page, Word and Markdown show. */
import { parseColor } from './color.ts';
import { anyValue, type KnownMark } from './known-types.ts';
import { safeHref } from './link.ts';

const style = (type: string, shown: string, html: string, gfm?: string, ...aliases: string[]): KnownMark => ({
  type,
  aliases,
  attributes: {},
  page: shown,
  word: shown,
  markdown: 'the text only',
  ...(gfm !== undefined && { gfm }),
  html,
  example: { type },
});

/** The marks, in the order of the docs. */
export const knownMarks: readonly KnownMark[] = [
  {
    type: 'link',
    aliases: [],
    attributes: { href: anyValue('An absolute http, https or mailto URL') },
    page: 'a link',
    word: 'a link',
    markdown: 'the text with the target in brackets',
    gfm: 'a link',
    html: '<a',
    example: { type: 'link', attrs: { href: 'https://example.com/' } },
    findLoss: ({ attrs }) =>
      safeHref(attrs?.href) === undefined
        ? {
            code: 'link_removed',
            message: 'Only the text is shown. Use an absolute http, https or mailto URL',
          }
        : undefined,
  },
  style('bold', 'bold text', '<strong', '`**bold**`', 'strong'),
  style('italic', 'italic text', '<em', '`*italic*`', 'em'),
  style('strike', 'struck-through text', '<s', '`~~strike~~`', 'strikethrough'),
  style('underline', 'underlined text', '<u'),
  {
    ...style('highlight', 'a coloured background', '<mark'),
    attributes: { color: anyValue('The background in Word: `#rgb` or `#rrggbb`; yellow by default') },
    page: 'a yellow background',
  },
  style('subscript', 'subscript text', '<sub', '`<sub>`', 'sub'),
  style('superscript', 'superscript text', '<sup', '`<sup>`', 'sup'),
  style('code', 'code', '<code', '`` `code` ``'),
  {
    ...style('textStyle', 'coloured text', '<span class="color-red"', undefined, 'text_style'),
    attributes: {
      color: {
        description: 'The colour: `#rgb`, `#rrggbb`, `rgb(…)` or a CSS colour name',
        accepts: (value) => value === '' || parseColor(value) !== undefined,
      },
    },
    page: 'text in the closest of 13 colours that are readable in light and dark mode',
    example: { type: 'textStyle', attrs: { color: '#b00020' } },
  },
];
