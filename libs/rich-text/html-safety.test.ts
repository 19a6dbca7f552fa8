/** Tests that no text, attribute, mark or node type becomes markup; a strict parser reads the HTML back. */
import { expect, test } from '@jest/globals';
import { SaxesParser } from 'saxes';
import { link, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { attacks, places } from '../../tests/rich-text/attacks.ts';
import { createRandom, hostileTree } from '../../tests/rich-text/hostile.ts';
import { toHtml } from './html.ts';
import { toPlainText } from './text.ts';

const flow = 'p h1 h2 h3 h4 h5 h6 pre blockquote aside hr ul ol div'.split(' ');
const phrasing = 'a span strong em s u mark sub sup code br img #text'.split(' ');
const allowed = new Map<string, string[]>([
  ...['root', 'blockquote', 'aside', 'td', 'th'].map((name): [string, string[]] => [name, flow]),
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
    'span',
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
  ['li', [...flow, 'span']],
  ['table', ['thead', 'tbody']],
  ['thead', ['tr']],
  ['tbody', ['tr']],
  ['tr', ['td', 'th']],
]);
const attributes = new Map<string, RegExp>([
  ['a href', /^(https?:|mailto:)/],
  ['a rel', /^noopener noreferrer nofollow$/],
  ['a target', /^_blank$/],
  ['img src', /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/],
  ['img alt', /^/],
  ['img title', /^/],
  ['img width', /^\d+$/],
  ['img height', /^\d+$/],
  ['span role', /^img$/],
  ['span aria-label', /^(Done|Not done)$/],
  ['tr class', /^continued$/],
  ...['td class', 'th class'].map((name): [string, RegExp] => [name, /^(short|long|(long )?long-word)$/]),
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
    /^(align-(left|center|right|justify)|callout-label)$/,
  ]),
  ['span class', /^(task-mark( done)?|color-[a-z]+)$/],
  ['aside class', /^callout callout-(danger|warning|caution|note)$/],
]);

for (const [place, tree] of Object.entries(places)) {
  test(`attacks in ${place} do not become markup`, () => {
    for (const attack of attacks) check(toHtml(tree(attack)));
  });
}

test('attacks in text are displayed unchanged', () => {
  for (const attack of attacks) {
    const text = check(toHtml(p(attack)));
    expect(text.replace(/\s+/g, ' ')).toBe(toPlainText(p(attack)));
  }
});

test('1,000 hostile trees give only allowed HTML and keep their text', () => {
  const random = createRandom(5);
  for (let count = 0; count < 1000; count++) {
    const tree = hostileTree(random);
    const text = check(toHtml(tree)).replace(/https:\/\/a\.example\/\?a=1&b=%222%22/g, '');
    expect(text.replace(/[ \t\r\n]+/g, '')).toBe(toPlainText(tree).replace(/[ \t\r\n]+/g, ''));
  }
});

test('toHtml handles very deep and very wide trees', () => {
  let deep = p('core');
  for (let level = 0; level < 50_000; level++) deep = { type: 'blockquote', content: [deep] };
  expect(check(toHtml(deep))).toBe('core');
  const texts = Array.from({ length: 100_000 }, () => text('x', 'bold', link('https://a.example/')));
  const wide = { type: 'paragraph', content: texts };
  expect(check(toHtml(wide))).toHaveLength(100_000);
});

/** Parses HTML strictly as XML, compares it with the allowed lists above and returns its text. */
function check(html: string): string {
  const open = ['root'];
  let text = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new Error(`${error.message} in ${html}`);
  });
  for (const event of ['comment', 'cdata', 'doctype', 'processinginstruction'] as const) {
    parser.on(event, () => {
      throw new Error(`a ${event} in ${html}`);
    });
  }
  parser.on('text', (piece) => {
    text += piece;
    if (piece.trim() !== '') assertAllowed(open.at(-1), '#text', html);
  });
  parser.on('opentag', ({ name, attributes: written }) => {
    if (name === 'root') return;
    assertAllowed(open.at(-1), name, html);
    if (name === 'a' && open.includes('a')) throw new Error(`a link in a link in ${html}`);
    for (const [key, value] of Object.entries(written)) {
      if (!attributes.get(`${name} ${key}`)?.test(String(value)))
        throw new Error(`${name} ${key}="${value}" in ${html}`);
    }
    open.push(name);
  });
  parser.on('closetag', ({ name }) => {
    if (name !== 'root') open.pop();
  });
  parser.write(`<root>${html}</root>`).close();
  return text;
}

function assertAllowed(parent: string | undefined, child: string, html: string): void {
  if (!allowed.get(parent ?? '')?.includes(child)) throw new Error(`${child} in ${parent} in ${html}`);
}
