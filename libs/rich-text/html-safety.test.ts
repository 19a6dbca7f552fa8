/** Promises that no text, attribute, mark or node type can become markup; everything is read back by a strict parser. */
import { expect, test } from '@jest/globals';
import { SaxesParser } from 'saxes';
import { doc, link, node, nodeWith, p, text } from './build.ts';
import { hostileTree, randomFrom } from './hostile.ts';
import { toHtml } from './html.ts';
import { dataUri, png } from './sample-images.ts';
import { plainText } from './text.ts';
import type { RichText } from './tree.ts';

const flow = 'p h1 h2 h3 h4 h5 h6 pre blockquote hr ul ol div'.split(' ');
const phrasing = 'a strong em s u mark sub sup code br img #text'.split(' ');
const allowed = new Map<string, string[]>([
  ...['root', 'blockquote', 'td', 'th'].map((name): [string, string[]] => [name, flow]),
  ['div', [...flow, 'table']],
  ...[
    'p',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'a',
    'strong',
    'em',
    's',
    'u',
    'mark',
    'sub',
    'sup',
    'code',
  ].map((name): [string, string[]] => [name, phrasing]),
  ['pre', ['code']],
  ['ul', ['li']],
  ['ol', ['li']],
  ['li', [...flow, 'input']],
  ['table', ['thead', 'tbody']],
  ['thead', ['tr']],
  ['tbody', ['tr']],
  ['tr', ['td', 'th']],
]);
const attributes = new Map<string, RegExp>([
  ['a href', /^(https?:|mailto:)/],
  ['a rel', /^noopener noreferrer nofollow$/],
  ['a target', /^_blank$/],
  ['img src', /^data:image\/(png|jpeg|gif);base64,[A-Za-z0-9+/]+=*$/],
  ['img alt', /^/],
  ['img title', /^/],
  ['img width', /^\d+$/],
  ['img height', /^\d+$/],
  ['input type', /^checkbox$/],
  ['input disabled', /^$/],
  ['input checked', /^$/],
  ['input aria-label', /^Done$/],
  ['div class', /^table$/],
  ['div tabindex', /^0$/],
  ['div role', /^group$/],
  ['div aria-label', /^Table$/],
  ['ol start', /^\d+$/],
  ['ol type', /^[1aAiI]$/],
  ['th scope', /^(col|row)$/],
  ...['td colspan', 'td rowspan', 'th colspan', 'th rowspan'].map((name): [string, RegExp] => [
    name,
    /^\d+$/,
  ]),
  ...['ul class', 'li class'].map((name): [string, RegExp] => [name, /^task-(list|item)$/]),
  ['code class', /^language-[\w+#.-]+$/],
  ...['p', 'h5', 'h6'].map((name): [string, RegExp] => [
    `${name} class`,
    /^align-(left|center|right|justify)$/,
  ]),
]);

const payloads = [
  '<script>alert(1)</script>',
  '</p><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '<svg><script href="data:,alert(1)"/></svg>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<math><mi//xlink:href="data:x,<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '<style>*{background:url(//a.example)}</style>',
  '<base href="//a.example/">',
  '<meta http-equiv="refresh" content="0;url=//a.example">',
  '<form action="//a.example"><button>x',
  '<object data="data:text/html,x">',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '</title><script>alert(1)</script>',
  '</textarea><img src=x onerror=alert(1)>',
  '--><script>alert(1)</script><!--',
  ']]><script>alert(1)</script>',
  '<?xml version="1.0"?><x/>',
  '<!DOCTYPE x [<!ENTITY a "b">]>&a;',
  '<scr\0ipt>alert(1)</scr\0ipt>',
  '<\u0000script>alert(1)</script>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;',
  '&#x3c;script',
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  '` onmouseover=`alert(1)',
  '" style="background:url(javascript:alert(1))',
  'javascript:alert(1)',
  'JAVASCRIPT:alert(1)',
  'jav\tascript:alert(1)',
  'jav&#x09;ascript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript://a.example/%0aalert(1)',
  'vbscript:msgbox(1)',
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+',
  'data:image/png;base64,x" onerror="alert(1)',
  'data:image/png;base64,iVBORw0KGgo=',
  'https://a.example/"onmouseover="alert(1)',
  "https://a.example/'><script>alert(1)</script>",
  'https://a.example/<script>',
  'mailto:"><script>alert(1)</script>@a.example',
  '{{constructor.constructor("alert(1)")()}}',
  '\u202e<script>\u2066',
  '\ud800<script>\udfff',
  '+ADw-script+AD4-alert(1)+ADw-/script+AD4-',
  '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
  '__proto__',
  'constructor',
];

/** One payload in every place where a tree holds a string. */
const places: Record<string, (payload: string) => RichText> = {
  'a text': (payload) => p(payload),
  'a text under marks': (payload) => p(text(payload, 'bold', 'code', link('https://a.example/'))),
  'a code block': (payload) => nodeWith('codeBlock', { language: payload }, payload),
  'a link': (payload) => p(text('x', link(payload))),
  'a link with attributes': (payload) =>
    p(
      text('x', {
        type: 'link',
        attrs: { href: 'https://a.example/', target: payload, rel: payload, class: payload },
      }),
    ),
  'an image': (payload) => nodeWith('image', { src: payload, alt: payload, title: payload, width: payload }),
  'words beside an image': (payload) =>
    nodeWith('image', { src: dataUri('image/png', png(1, 1)), alt: payload, title: payload, width: payload }),
  'the type of a mark': (payload) => p(text('x', { type: payload, attrs: { href: payload } })),
  'the type of a node': (payload) => doc(node(payload, p('x')), p(node(payload, 'x'))),
  'attributes of blocks': (payload) => {
    const attrs = {
      [payload]: payload,
      textAlign: payload,
      level: payload,
      start: payload,
      type: payload,
      class: payload,
    };
    const spans = {
      ...attrs,
      colspan: payload,
      rowspan: payload,
      colwidth: [payload],
      style: payload,
      onclick: payload,
    };
    return doc(
      nodeWith('heading', attrs, 'x'),
      nodeWith('orderedList', attrs, nodeWith('listItem', attrs, p('x'))),
      nodeWith('taskList', attrs, nodeWith('taskItem', { ...attrs, checked: payload }, p('x'))),
      nodeWith(
        'table',
        attrs,
        nodeWith('tableRow', attrs, nodeWith('tableCell', spans), nodeWith('tableHeader', spans)),
      ),
    );
  },
};

for (const [place, tree] of Object.entries(places)) {
  test(`none of ${payloads.length} attacks in ${place} becomes markup`, () => {
    for (const payload of payloads) check(toHtml(tree(payload)));
  });
}

test('an attack in a text is shown as it is', () => {
  for (const payload of payloads) {
    const shown = check(toHtml(p(payload)));
    expect(shown.replace(/\s+/g, ' ')).toBe(plainText(p(payload)));
  }
});

test('1,000 hostile trees give allowed elements, attributes and nesting only, and all of their words in order', () => {
  const random = randomFrom(5);
  for (let count = 0; count < 1000; count++) {
    const tree = hostileTree(random);
    const shown = check(toHtml(tree)).replace(/https:\/\/a\.example\/\?a=1&b=%222%22/g, '');
    expect(shown.replace(/[ \t\r\n]+/g, '')).toBe(plainText(tree).replace(/[ \t\r\n]+/g, ''));
  }
});

test('hostile depth and width are shown without overflowing', () => {
  let deep = p('core');
  for (let level = 0; level < 50_000; level++) deep = { type: 'blockquote', content: [deep] };
  expect(check(toHtml(deep))).toBe('core');
  const texts = Array.from({ length: 100_000 }, () => text('x', 'bold', link('https://a.example/')));
  const wide = { type: 'paragraph', content: texts };
  expect(check(toHtml(wide))).toHaveLength(100_000);
});

/** Reads the HTML strictly (it is well-formed XML too), holds it against the lists above and gives the text that is shown. */
function check(html: string): string {
  const open = ['root'];
  let shown = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new Error(`${error.message} in ${html}`);
  });
  for (const event of ['comment', 'cdata', 'doctype', 'processinginstruction'] as const) {
    parser.on(event, () => {
      throw new Error(`a ${event} in ${html}`);
    });
  }
  parser.on('text', (words) => {
    shown += words;
    if (words.trim() !== '') mayHold(open.at(-1), '#text', html);
  });
  parser.on('opentag', ({ name, attributes: found }) => {
    if (name === 'root') return;
    mayHold(open.at(-1), name, html);
    if (name === 'a' && open.includes('a')) throw new Error(`a link in a link in ${html}`);
    for (const [key, value] of Object.entries(found)) {
      if (!attributes.get(`${name} ${key}`)?.test(String(value)))
        throw new Error(`${name} ${key}="${value}" in ${html}`);
    }
    open.push(name);
  });
  parser.on('closetag', ({ name }) => {
    if (name !== 'root') open.pop();
  });
  parser.write(`<root>${html}</root>`).close();
  return shown;
}

function mayHold(parent: string | undefined, child: string, html: string): void {
  if (!allowed.get(parent ?? '')?.includes(child)) throw new Error(`${child} in ${parent} in ${html}`);
}
