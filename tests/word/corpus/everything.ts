/** Creates a test document with every node and mark of rich text, alone and nested. */
import type { Mark, RichText } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../../../services/export/formats/document.ts';
import { encodePng } from '../../fixtures/generators/png.ts';
import { createRecord } from '../samples.ts';

type Inner = string | RichText;

/** Creates a text node; marks are names, or marks with attributes. */
export function text(value: string, ...marks: (string | Mark)[]): RichText {
  const all = marks.map((mark) => (typeof mark === 'string' ? { type: mark } : mark));
  return all.length > 0 ? { type: 'text', text: value, marks: all } : { type: 'text', text: value };
}

/** Creates a node; strings become text nodes. */
export function node(type: string, attrs: Record<string, unknown>, ...inner: Inner[]): RichText {
  const content = inner.map((child) => (typeof child === 'string' ? text(child) : child));
  return { type, ...(Object.keys(attrs).length > 0 && { attrs }), ...(content.length > 0 && { content }) };
}

/** Creates a paragraph. */
export const p = (...inner: Inner[]) => node('paragraph', {}, ...inner);
/** Creates a list item that starts with a paragraph of these words. */
export const li = (words: string, ...more: RichText[]) => node('listItem', {}, p(words), ...more);
/** Creates a bullet list. */
export const bullets = (...items: RichText[]) => node('bulletList', {}, ...items);
/** Creates an ordered list that counts from `start`. */
export const numbers = (start: number, ...items: RichText[]) => node('orderedList', { start }, ...items);

const task = (checked: boolean, words: string, ...more: RichText[]) =>
  node('taskItem', { checked }, p(words), ...more);
const cell = (attrs: Record<string, unknown>, ...inner: RichText[]) => node('tableCell', attrs, ...inner);
const head = (words: string, attrs: Record<string, unknown> = {}) => node('tableHeader', attrs, p(words));
const row = (...cells: RichText[]) => node('tableRow', {}, ...cells);
const br: RichText = { type: 'hardBreak' };
const linkTo = (href: string): Mark => ({ type: 'link', attrs: { href } });

/** A green square with an amber disc, as PNG, JPEG and GIF. */
const disc = encodePng(120, 60, (x, y) =>
  Math.hypot(x - 30, y - 30) < 24 ? [200, 129, 43, 255] : [11, 79, 74, 255],
);
const pngUri = `data:image/png;base64,${disc.toString('base64')}`;
const jpegUri =
  'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBD' +
  'ARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAwAGADASIAAhEBAxEB/8QAGQABAQEBAQEAAAAAAAAAAAAAAAUBBAYD/8QAKRAAAgEDAgQFBQAAAAAA' +
  'AAAAAAECAwQREiEFMUJRIkGiscFhcoGR0f/EABcBAQEBAQAAAAAAAAAAAAAAAAQAAwX/xAAeEQACAgIDAQEAAAAAAAAAAAAAAQMRAgQSFDFhE//aAAwDAQACEQMRAD8AhgFKys9GKtVeLpi/Is81grYaONyOkcdO1rVFmNN4' +
  '7vb3NlZ14LLpP8b+xaATtZX4N6mNenngVryzVZa4bVF6iU002msNc0xUcikVoHLE43TMABoZAAEQABEfa0gqlzTi+WcvK7blsi2clC6pt98fvYtAdq+SOjqVxYAAUYCRxCChdNrqWrkVyTxKSldYXTFJ+/yI1r5hdqvzOQAHQOYA' +
  'ARAAEQK1neKstE9qi9RJNTaaaeGuTRnJGpFTNYpXG7R6AEinf14LDan9yNlxGvJYWmP1S/oPrZ2O7UdHddXUbePeb5L5I8pOUnKTy28sSk5PMm235tmC4olGvoKWVyP4AAamIABEAARH/9k=';
const gifUri =
  'data:image/gif;base64,R0lGODdhMAAwAIEAAMiBKwtPSgAAAAAAACwAAAAAMAAwAEAIpgADCBxIsKDBgwgTKkQIoKHDhxAfLlwYsaLFiw4nBsDIsaPEiR5DRtSYUORHkihTqixpEmPKljAbUozZ8iXNkStz6tzJs6fAiz4Z3gSw' +
  'cyhQkkY7gkyqVCHTpk6fWkQp9eRKo0EPHs3KtavXr2DD9hT59WZQpkWrqqwKESnbtkvfZpwp16rWunYN4s1bcO/cqHg1+nUrd61anWh9mvVKVqzjx5B3BgQAOw==';
const image = (src: unknown, attrs: Record<string, unknown> = {}) => node('image', { src, ...attrs });

const MARKS: [string, RichText[]][] = [
  [
    'marks',
    [
      p(
        ...['bold', 'italic', 'strike', 'underline', 'code', 'highlight', 'superscript', 'subscript'].flatMap(
          (mark) => [text(`m-${mark}`, mark), text(' ')],
        ),
        text('m-colour', { type: 'highlight', attrs: { color: '#fed7aa' } }),
        text(' m-all', 'bold', 'italic', 'strike', 'underline', 'code', 'highlight', 'superscript'),
        text(' m-tinted', { type: 'textStyle', attrs: { color: '#c00000' } }),
        text(' m-unknown', 'wobbly'),
      ),
      p(
        'before ',
        text('l-web', linkTo('https://example.org/a?b=1&c="2"')),
        ' ',
        text('l-mail', linkTo('mailto:a@example.org')),
      ),
      p(text('l-script', linkTo('javascript:alert(1)')), ' ', text('l-file', linkTo('file:///etc/passwd'))),
      p('one', br, 'two', br, br, 'four\twith a tab'),
      p('hostile: {{content}} {{title}} <w:p> & ]]> \u0000\u000B\uFFFE\uFFFF \uD800 \u202E end'),
      p('多言語 العربية עברית 🎉👩‍🚀 e\u0301'),
      ...['left', 'center', 'right', 'justify', 'sideways'].map((textAlign) =>
        node('paragraph', { textAlign }, `aligned ${textAlign}`),
      ),
      p(),
    ],
  ],
  ['inner headings', [1, 2, 3, 4, 5, 6, 99].map((level) => node('heading', { level }, `h-${level}`))],
  [
    'code, quotes and rules',
    [
      node('codeBlock', { language: 'ts' }, 'if (a) {\n\treturn "b";\n}\n\nend'),
      node('codeBlock', {}, Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n')),
      node('blockquote', {}, p('q-one'), node('blockquote', {}, p('q-two'), bullets(li('q-item')))),
      node('horizontalRule', {}),
      node('codeBlock', {}),
    ],
  ],
];

/** Creates twelve levels of alternating lists; Word supports nine. */
const createDeepList = (level = 1): RichText =>
  (level % 2 ? bullets : (item: RichText) => numbers(1, item))(
    level === 12 ? li(`d-${level}`) : li(`d-${level}`, createDeepList(level + 1)),
  );

const LISTS: RichText[] = [
  bullets(li('b-one', bullets(li('b-two', bullets(li('b-three'))))), li('b-four', p('b-more'))),
  numbers(1, li('n-first', numbers(1, li('n-inner'), li('n-inner again'))), li('n-second')),
  p('between'),
  numbers(4, li('n-fourth'), li('n-fifth')),
  numbers(1, li('n-anew')),
  node(
    'taskList',
    {},
    task(true, 't-done'),
    task(false, 't-open', node('taskList', {}, task(true, 't-inner'))),
  ),
  bullets(
    node('listItem', {}, node('codeBlock', {}, 'i-code')),
    node('listItem', {}, node('heading', { level: 2 }, 'i-heading')),
    node('listItem', {}, p(image(pngUri, { width: 40 }))),
    node('listItem', {}),
    node('listItem', {}, p('i-table'), node('table', {}, row(cell({}, p('i-cell')), cell({}, p('i-next'))))),
  ),
  createDeepList(),
];

const TABLES: RichText[] = [
  node(
    'table',
    {},
    row(head('c-a', { colwidth: [120] }), head('c-b'), head('c-c')),
    row(cell({ rowspan: 2 }, p('c-down')), cell({ colspan: 2 }, p('c-wide'))),
    row(cell({}, bullets(li('c-item', numbers(1, li('c-number'))))), cell({}, p(image(gifUri)))),
    row(cell({ colspan: 99 }, p('c-too-wide'))),
    row(cell({})),
  ),
  node('table', {}, row(cell({}, node('table', {}, row(cell({}, p('c-nested'))))), cell({}, p('c-beside')))),
  node('table', {}, row(...Array.from({ length: 70 }, (_, at) => cell({}, p(`${at}`))))),
  node('table', {}),
  node('table', {}, p('c-stray')),
];

const PICTURES: RichText[] = [
  p(
    'p-png ',
    image(pngUri, { alt: 'A disc', title: 'Disc' }),
    ' p-jpeg ',
    image(jpegUri),
    ' p-gif ',
    image(gifUri),
  ),
  image(pngUri, { width: 4_000 }),
  p(image('https://example.org/remote.png', { alt: 'p-remote' }), ' ', image('https://example.org/bare.png')),
  p(
    image('data:image/svg+xml;base64,PHN2Zy8+', { alt: 'p-svg' }),
    image('data:image/png;base64,AAAA', { alt: ' p-broken' }),
  ),
  p(image('blob:1', { alt: 'p-blob' }), { ...image(pngUri), marks: [linkTo('https://example.org/linked')] }),
];

const INVALID: RichText[] = [
  node('callout', { tone: 'warn' }, p('u-inside')),
  text('u-loose'),
  node('mention', { id: 1 }, 'u-mention'),
  node('listItem', {}, p('u-item')),
  node('tableCell', {}, p('u-cell')),
  p(node('paragraph', {}, 'u-nested'), 'u-after'),
];

/** Creates the document; its words have prefixes, so that a test can check their order. */
export function everything(): WordDocument {
  const parts: [string, RichText[]][] = [
    ...MARKS,
    ['lists', LISTS],
    ['tables', TABLES],
    ['pictures', PICTURES],
    ['strange', INVALID],
  ];
  const nodes = parts.map(([title, content], at): ExportNode => {
    const sub = createNode('sub_step', `Sub ${at + 1}: ${title}`, content);
    return createNode('section', `Section ${at + 1}: ${title}`, content, [
      createNode('step', `Step ${at + 1}: ${title}`, content, [
        sub,
        createNode('sub_step', '{{content}} & <b>', []),
      ]),
    ]);
  });
  return {
    title: 'All of it: {{content}} & "more" <b>',
    version: '7 {{title}}',
    department: 'Ops & <Co>',
    published_at: '2026-11-21T09:30:00.000Z',
    approved_at: null,
    organization: 'Aldermoor {{version}}',
    record: createRecord({ status: 'draft', owner: 'Ada {{history}} & <b>' }),
    nodes,
  };
}

function createNode(
  node_type: ExportNode['node_type'],
  title: string,
  content: RichText[],
  children: ExportNode[] = [],
): ExportNode {
  return { id: title, node_type, title, content: { type: 'doc', content }, children };
}
