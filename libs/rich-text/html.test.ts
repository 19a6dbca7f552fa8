/** Tests of rich text as HTML. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { dataUri, gif, png, webp } from '../../tests/rich-text/sample-images.ts';
import { toHtml } from './html.ts';
import type { RichText } from './tree.ts';

const rel = 'target="_blank" rel="noopener noreferrer nofollow"';

test('the top heading level becomes h5 or headingLevel, none is below h6', () => {
  const heading = (level: unknown) => nodeWith('heading', { level }, 'x');
  const names = (levels: unknown[], headingLevel?: number) =>
    toHtml(doc(...levels.map(heading)), headingLevel ? { headingLevel } : {}).match(/(?<=<)h\d/g);
  expect(names([1, 2, 3, 6, 99, 'x'])).toEqual(['h5', 'h6', 'h6', 'h6', 'h5', 'h5']);
  expect(names([1, 2, 3, 6, 99, 'x'], 2)).toEqual(['h2', 'h3', 'h4', 'h6', 'h2', 'h2']);
  expect(names([3, 2, 4], 4)).toEqual(['h5', 'h4', 'h6']);
  expect(names([6], 3)).toEqual(['h3']);
  expect(toHtml(heading(1), { headingLevel: 12 })).toBe('<h6>x</h6>');
  expect(toHtml(heading(1), { headingLevel: -1 })).toBe('<h1>x</h1>');
  expect(toHtml(doc(node('blockquote', heading(2)), heading(1)), { headingLevel: 3 })).toContain('<h4>');
});

test.each<[string, RichText, string]>([
  [
    'quotes, rules and hard breaks become their HTML elements',
    doc(node('blockquote', p('a', br, 'b')), { type: 'horizontalRule' }),
    '<blockquote><p>a<br/>b</p></blockquote>\n<hr/>',
  ],
  [
    'text alignment becomes a class',
    nodeWith('paragraph', { textAlign: 'center' }, 'a'),
    '<p class="align-center">a</p>',
  ],
  [
    'a code block keeps its lines and gets a class for its language',
    nodeWith('codeBlock', { language: 'c++' }, '\na <b>\n  c'),
    '<pre><code class="language-c++">\na &lt;b&gt;\n  c</code></pre>',
  ],
  [
    'ordered lists keep their start and numerals',
    nodeWith('orderedList', { start: 4, type: 'i' }, li('a')),
    '<ol start="4" type="i"><li><p>a</p></li></ol>',
  ],
  [
    'nested lists become nested HTML lists',
    node('bulletList', li('a', node('orderedList', li('b')))),
    '<ul><li><p>a</p>\n<ol><li><p>b</p></li></ol></li></ul>',
  ],
  [
    'a callout shows its signal word',
    nodeWith('callout', { kind: 'warning' }, p('a')),
    '<aside class="callout callout-warning"><p class="callout-label">WARNING</p>\n<p>a</p></aside>',
  ],
  ['unknown nodes are replaced by their children', doc(node('panel', p('a', node('tag', 'b')))), '<p>ab</p>'],
])('toHtml: %s', (_, content, html) => {
  expect(toHtml(content)).toBe(html);
});

test('marks become elements that are nested in a fixed order', () => {
  const marks = ['code', 'superscript', 'subscript', 'highlight', 'underline', 'strike', 'italic', 'bold'];
  const inner = '<strong><em><s><u><mark><sub><sup><code>x</code></sup></sub></mark></u></s></em></strong>';
  expect(toHtml(p(text('x', ...marks, 'unknown', link('https://a.example/'))))).toBe(
    `<p><a href="https://a.example/" ${rel}>${inner}</a></p>`,
  );
  expect(toHtml(p(text('x', 'bold', 'bold')))).toBe('<p><strong>x</strong></p>');
});

test('one link spans several marks, two targets give two links', () => {
  const to = link('https://a.example/');
  expect(toHtml(p(text('a', to), text('b', 'bold', to), text('c', link('https://b.example/')), 'd'))).toBe(
    `<p><a href="https://a.example/" ${rel}>a<strong>b</strong></a><a href="https://b.example/" ${rel}>c</a>d</p>`,
  );
});

test('web links open in a new tab, mail links do not', () => {
  expect(toHtml(p(text('a', link('http://a.example/'))))).toContain('target="_blank"');
  expect(toHtml(p(text('a', link('mailto:a@b.example'))))).toBe(
    '<p><a href="mailto:a@b.example" rel="noopener noreferrer nofollow">a</a></p>',
  );
});

test('a link with another scheme is replaced by its text', () => {
  expect(toHtml(p(text('a', link('javascript:alert(1)')), text('b', link('/x'))))).toBe('<p>ab</p>');
});

test('an embedded image has its own size and type, alt text and title', () => {
  const src = dataUri('image/png', png(30, 20));
  const image = nodeWith('image', { src, alt: 'A "valve"', title: 'T', width: null, style: 'x' });
  expect(toHtml(image)).toBe(
    `<p><img src="${src}" alt="A &quot;valve&quot;" title="T" width="30" height="20"/></p>`,
  );
  const disguised = dataUri('image/png', gif(3, 4));
  expect(toHtml(nodeWith('image', { src: disguised }))).toBe(
    `<p><img src="${disguised.replace('png', 'gif')}" alt="" width="3" height="4"/></p>`,
  );
});

test.each([
  [{ width: 9 }, 'width="9" height="6"'],
  [{ height: '9px' }, 'width="14" height="9"'],
  [{ width: 9, height: 9 }, 'width="9" height="9"'],
  [{ width: 1.2 }, 'width="1" height="1"'],
  [{ width: '"', height: 10_001 }, 'width="30" height="20"'],
])('an image of 30 by 20 pixels that requests %j is shown in this size', (size, expected) => {
  const src = dataUri('image/png', png(30, 20));
  expect(toHtml(nodeWith('image', { src, ...size }))).toBe(`<p><img src="${src}" alt="" ${expected}/></p>`);
});

test('a WebP image is shown', () => {
  const src = dataUri('image/webp', webp(3, 4));
  expect(toHtml(nodeWith('image', { src }))).toBe(`<p><img src="${src}" alt="" width="3" height="4"/></p>`);
});

test('a remote https image becomes a link', () => {
  const src = 'https://a.example/a.png';
  expect(toHtml(nodeWith('image', { src, alt: 'A valve' }))).toBe(
    `<p><a href="${src}" ${rel}>A valve</a></p>`,
  );
  expect(toHtml(nodeWith('image', { src }))).toBe(`<p><a href="${src}" ${rel}>${src}</a></p>`);
  const linked = { ...nodeWith('image', { src, alt: 'A valve' }), marks: [link('https://b.example/')] };
  expect(toHtml(p(linked))).toBe(`<p><a href="https://b.example/" ${rel}>A valve</a></p>`);
});

test('any other image is replaced by its alt text', () => {
  for (const src of [
    'http://a.example/a.png',
    '/a.png',
    'data:image/svg+xml,<svg/>',
    'blob:x',
    7,
    undefined,
  ]) {
    expect(toHtml(nodeWith('image', { src, alt: 'A valve' }))).toBe('<p>A valve</p>');
  }
});

test('a task item has a printed mark with a name, not a checkbox', () => {
  const task = (checked: unknown) => toHtml(node('taskList', nodeWith('taskItem', { checked }, p('a'))));
  const item = (mark: string) =>
    `<ul class="task-list"><li class="task-item">${mark}<div><p>a</p></div></li></ul>`;
  const done = '<span class="task-mark done" role="img" aria-label="Done"></span>';
  const open = '<span class="task-mark" role="img" aria-label="Not done"></span>';
  expect(task(true)).toBe(item(done));
  for (const checked of [false, 'true', undefined]) expect(task(checked)).toBe(item(open));
});

test('the words for screen readers follow the options', () => {
  const words = { done: 'Erledigt', notDone: 'Offen', table: 'Tabelle' };
  const task = nodeWith('taskItem', { checked: true }, p('a'));
  const page = toHtml(doc(node('taskList', task), node('table', node('tableRow', node('tableCell')))), {
    words,
  });
  expect(page).toContain('aria-label="Erledigt"');
  expect(page).toContain('aria-label="Tabelle"');
});

test('cells are short or long by the length of all their text', () => {
  const getClass = (...content: RichText[]) =>
    /<td( class="(\w+)")?>/.exec(toHtml(node('table', node('tableRow', node('tableCell', ...content)))))?.[2];
  const words = 'word '.repeat(6);
  expect(getClass(p(words), node('bulletList', li(words)))).toBe('long');
  for (const some of ['x'.repeat(13), 'x'.repeat(59)]) expect(getClass(p(some))).toBeUndefined();
  expect(getClass()).toBe('short');
  expect(getClass(p('± 0.10 ml/s'))).toBe('short');
  expect(getClass(p(nodeWith('image', { src: 'x'.repeat(99), alt: 'A' })))).toBe('short');
});

test('a cell says that it has a word of more than 30 characters', () => {
  const hasLongWord = (...content: RichText[]) =>
    /<td class="[^"]*\blong-word\b/.test(
      toHtml(node('table', node('tableRow', node('tableCell', ...content)))),
    );
  for (const word of ['x'.repeat(31), `https://example.com/${'a/'.repeat(9)}`]) {
    expect(hasLongWord(p(word))).toBe(true);
    expect(hasLongWord(p(`${'words '.repeat(30)}and ${word}`))).toBe(true);
    expect(hasLongWord(p(text(word.slice(0, 20), 'bold'), word.slice(20)))).toBe(true);
    expect(hasLongWord(node('codeBlock', `a\n${word}`))).toBe(true);
  }
  const half = 'x'.repeat(30);
  for (const content of [p(half), p(`${half} ${half}`), p('日本語'.repeat(20))])
    expect(hasLongWord(content)).toBe(false);
  expect(hasLongWord(p(half), p(half))).toBe(false);
});

test('a row below a merged cell of the first column is continued', () => {
  const merged = nodeWith('tableCell', { rowspan: 3 }, p('a'));
  const rows = [
    node('tableRow', merged, node('tableCell')),
    node('tableRow', nodeWith('tableCell', { rowspan: 2 })),
    node('tableRow', node('tableCell')),
    node('tableRow', node('tableCell'), nodeWith('tableCell', { rowspan: 2 })),
    node('tableRow', node('tableCell')),
  ];
  const found = [...toHtml(node('table', ...rows)).matchAll(/<tr( class="continued")?>/g)];
  expect(found.map(([, isContinued]) => isContinued !== undefined)).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

test('leading header rows become thead, later header cells row headers', () => {
  const th = (words: string) => node('tableHeader', p(words));
  const td = nodeWith('tableCell', { colspan: 2, rowspan: 3 }, p('d'));
  const table = node('table', node('tableRow', th('a'), th('b')), node('tableRow', th('c'), td));
  expect(toHtml(table).replaceAll('\n', '')).toBe(
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th class="short" scope="col"><p>a</p></th><th class="short" scope="col"><p>b</p></th></tr></thead>' +
      '<tbody><tr><th class="short" scope="row"><p>c</p></th><td class="short" colspan="2" rowspan="3"><p>d</p></td></tr></tbody></table></div>',
  );
});

test('header rows whose cells cover rows of the body are in tbody', () => {
  const th = (rowspan: number) => nodeWith('tableHeader', { rowspan });
  const row = (...spans: number[]) => node('tableRow', ...spans.map(th));
  const body = node('tableRow', node('tableCell'));
  const headers = (...rows: RichText[]) =>
    /<thead>.*<\/thead>/s.exec(toHtml(node('table', ...rows)))?.[0].split('<tr').length;
  expect(headers(row(2, 1), body)).toBeUndefined();
  expect(headers(row(1, 1), row(2, 1), body)).toBe(2);
  expect(headers(row(2, 1), row(1), body)).toBe(3);
  expect(headers(row(2, 2), row(2), body)).toBeUndefined();
  expect(headers(row(2, 9))).toBe(2);
});

test('invalid spans and list starts are omitted', () => {
  for (const value of [1, 0, -1, 1.5, 1e9, '2', null, Number.NaN]) {
    expect(
      toHtml(node('table', node('tableRow', nodeWith('tableCell', { colspan: value, rowspan: value })))),
    ).toContain('<td class="short"></td>');
  }
  for (const start of [1, -1, 1.5, '3', 32_768])
    expect(toHtml(nodeWith('orderedList', { start }, li('a')))).toContain('<ol><li>');
});

test('an uploaded picture becomes an image if it is found, else its text', () => {
  const src = `asset:${'0'.repeat(64)}`;
  const content = doc(
    nodeWith('table', {}, node('tableRow', node('tableCell', nodeWith('image', { src, alt: '<a>' })))),
  );
  const findPicture = (value: unknown) =>
    value === src ? { src: 'https://a.b/"c', width: 4, height: 3 } : undefined;
  expect(toHtml(content, { findPicture })).toContain(
    '<img src="https://a.b/&quot;c" alt="&lt;a&gt;" width="4" height="3"/>',
  );
  const text = toHtml(content, { findPicture: () => undefined });
  expect(text).toBe(toHtml(content));
  expect([text.includes('&lt;a&gt;'), text.includes('<img')]).toEqual([true, false]);
});

test('text without letters has the direction of a page from right to left', () => {
  const content = doc(p('1'), p('שלום'), p('a'), nodeWith('codeBlock', {}, '1'));
  const page = { direction: 'rtl' } as const;
  expect(toHtml(content, page)).toBe('<p dir="rtl">1</p>\n<p>שלום</p>\n<p>a</p>\n<pre><code>1</code></pre>');
  expect(toHtml(content)).not.toContain('dir');
});
