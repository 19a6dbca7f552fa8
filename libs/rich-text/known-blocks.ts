/** Declares the blocks that renderers know: names, attributes, and what page, Word and Markdown show. */
import { calloutKinds, isCalloutKind } from './callout.ts';
import { enumValue, integerValue, type KnownNode, stringValue } from './known-types.ts';
import { maxListStart } from './list-start.ts';
import type { RichText } from './tree.ts';

const text = (value: string): RichText => ({ type: 'text', text: value });
const paragraph = (value: string): RichText => ({ type: 'paragraph', content: [text(value)] });
const item = (value: string): RichText => ({ type: 'listItem', content: [paragraph(value)] });
const cell = (type: string, value: string): RichText => ({ type, content: [paragraph(value)] });
const row = (...content: RichText[]): RichText => ({ type: 'tableRow', content });
const inTable = (...content: RichText[]): RichText => ({ type: 'table', content: [row(...content)] });

const textAlign = enumValue('Alignment', ['left', 'center', 'right', 'justify']);
const cellAttributes = {
  colspan: integerValue('Columns', 1, 1000),
  rowspan: integerValue('Rows', 1, 1000),
  colwidth: {
    description: 'The widths of its columns in Word: a list of pixels, such as `[120]`',
    accepts: (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'number'),
  },
};

/** The blocks, in the order of the docs. */
export const knownBlocks: readonly KnownNode[] = [
  {
    type: 'doc',
    aliases: [],
    attributes: {},
    page: 'its blocks',
    word: 'its blocks',
    markdown: 'its blocks',
    example: { type: 'doc', content: [paragraph('Root')] },
  },
  {
    type: 'paragraph',
    aliases: [],
    attributes: { textAlign },
    page: 'a paragraph',
    word: 'a paragraph',
    markdown: 'a paragraph',
    html: '<p',
    example: { ...paragraph('Close the valve.'), attrs: { textAlign: 'center' } },
  },
  {
    type: 'heading',
    aliases: [],
    attributes: { level: integerValue('Level', 1, 6), textAlign },
    page: 'a heading below that of the node',
    word: 'a heading of level 4, 5 or 6',
    markdown: 'a paragraph',
    gfm: 'a heading below that of the node',
    html: '<h5',
    example: { type: 'heading', attrs: { level: 2 }, content: [text('Tools')] },
  },
  {
    type: 'bulletList',
    aliases: ['bullet_list'],
    attributes: {},
    page: 'a list with bullets',
    word: 'a list with the bullets of the template',
    markdown: 'a bullet list',
    html: '<ul',
    example: { type: 'bulletList', content: [item('Gloves')] },
  },
  {
    type: 'orderedList',
    aliases: ['ordered_list'],
    attributes: {
      start: integerValue('First number', 0, maxListStart, 'order'),
      type: enumValue('Numerals on the page', ['1', 'a', 'A', 'i', 'I']),
    },
    page: 'a numbered list',
    word: 'a list with the numbers of the template',
    markdown: 'a bullet list',
    gfm: 'a numbered list',
    html: '<ol',
    example: { type: 'orderedList', attrs: { start: 3 }, content: [item('Drain the tank.')] },
  },
  {
    type: 'listItem',
    aliases: ['list_item'],
    attributes: {},
    page: 'a list item',
    word: 'a list item',
    markdown: 'a list item',
    html: '<li',
    example: { type: 'bulletList', content: [item('Gloves')] },
  },
  {
    type: 'taskList',
    aliases: ['task_list'],
    attributes: {},
    page: 'a list with printed marks',
    word: 'a list with checkboxes',
    markdown: 'a list with checkboxes',
    html: '<ul class="task-list"',
    example: { type: 'taskList', content: [{ type: 'taskItem', content: [paragraph('Checked')] }] },
  },
  {
    type: 'taskItem',
    aliases: ['task_item'],
    attributes: {
      checked: {
        description: 'Whether it is done: true or false',
        accepts: (value) => typeof value === 'boolean',
      },
    },
    page: 'a printed mark, named Done or Not done',
    word: 'a checkbox',
    markdown: '`[x]` or `[ ]`',
    html: '<li class="task-item"',
    example: {
      type: 'taskList',
      content: [{ type: 'taskItem', attrs: { checked: true }, content: [paragraph('Checked')] }],
    },
  },
  {
    type: 'table',
    aliases: [],
    attributes: {},
    page: 'a table',
    word: 'a table in the style of the template',
    markdown: 'one paragraph for each row, as `a | b`',
    gfm: 'a table',
    html: '<table',
    example: inTable(cell('tableCell', 'Bolt'), cell('tableCell', 'M8')),
  },
  {
    type: 'tableRow',
    aliases: ['table_row'],
    attributes: {},
    page: 'a row',
    word: 'a row',
    markdown: 'a paragraph',
    gfm: 'a row',
    html: '<tr',
    example: inTable(cell('tableCell', 'Bolt')),
  },
  {
    type: 'tableCell',
    aliases: ['table_cell'],
    attributes: cellAttributes,
    page: 'a cell',
    word: 'a cell',
    markdown: 'its text in one line',
    gfm: 'a cell',
    html: '<td',
    example: inTable({ ...cell('tableCell', 'Bolt'), attrs: { colspan: 2 } }),
  },
  {
    type: 'tableHeader',
    aliases: ['table_header'],
    attributes: cellAttributes,
    page: 'a header cell',
    word: 'a bold cell; leading rows of such cells repeat on each page',
    markdown: 'its text in one line',
    gfm: 'a header cell, or a bold cell',
    html: '<th',
    example: inTable(cell('tableHeader', 'Part')),
  },
  {
    type: 'blockquote',
    aliases: [],
    attributes: {},
    page: 'a quote',
    word: 'paragraphs in the quote style',
    markdown: 'its blocks',
    gfm: 'a quote',
    html: '<blockquote',
    example: { type: 'blockquote', content: [paragraph('As the manual says.')] },
  },
  {
    type: 'callout',
    aliases: [],
    attributes: {
      kind: {
        ...enumValue('How severe it is', calloutKinds),
        accepts: (value) => typeof value === 'string' && isCalloutKind(value),
      },
    },
    page: 'a panel labelled DANGER, WARNING, CAUTION or NOTE',
    word: 'a box with the signal word',
    markdown: 'its blocks after the signal word, such as `WARNING: …`',
    gfm: 'an alert, such as `[!WARNING]`',
    html: '<aside class="callout callout-warning"',
    example: { type: 'callout', attrs: { kind: 'warning' }, content: [paragraph('Hot surface.')] },
  },
  {
    type: 'codeBlock',
    aliases: ['code_block'],
    attributes: { language: stringValue('The language', 'params') },
    page: 'code with its lines',
    word: 'code with its lines',
    markdown: 'paragraphs with their lines',
    gfm: 'fenced code',
    html: '<pre',
    example: { type: 'codeBlock', attrs: { language: 'sh' }, content: [text('uptime')] },
  },
  {
    type: 'horizontalRule',
    aliases: ['horizontal_rule'],
    attributes: {},
    page: 'a line',
    word: 'a line',
    markdown: 'nothing',
    gfm: 'a line',
    html: '<hr',
    example: { type: 'horizontalRule' },
  },
];
