/** Promises about how rich text looks as HTML. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from './build.ts';
import { toHtml } from './html.ts';
import { dataUri, gif, png } from './testing/sample-images.ts';
import type { RichText } from './tree.ts';

const rel = 'target="_blank" rel="noopener noreferrer nofollow"';

test('headings go below the page: the highest are h5 or what the page asks for, and none is below h6', () => {
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
    'quotes, rules and hard breaks keep their meaning',
    doc(node('blockquote', p('a', br, 'b')), { type: 'horizontalRule' }),
    '<blockquote><p>a<br/>b</p></blockquote>\n<hr/>',
  ],
  [
    'text alignment is a class, never a style',
    nodeWith('paragraph', { textAlign: 'center' }, 'a'),
    '<p class="align-center">a</p>',
  ],
  [
    'code keeps its lines and names its language',
    nodeWith('codeBlock', { language: 'c++' }, '\na <b>\n  c'),
    '<pre><code class="language-c++">\na &lt;b&gt;\n  c</code></pre>',
  ],
  [
    'ordered lists keep their start and numerals',
    nodeWith('orderedList', { start: 4, type: 'i' }, li('a')),
    '<ol start="4" type="i"><li><p>a</p></li></ol>',
  ],
  [
    'lists nest',
    node('bulletList', li('a', node('orderedList', li('b')))),
    '<ul><li><p>a</p>\n<ol><li><p>b</p></li></ol></li></ul>',
  ],
  ['unknown nodes give their children', doc(node('callout', p('a', node('tag', 'b')))), '<p>ab</p>'],
])('%s', (_, content, html) => {
  expect(toHtml(content)).toBe(html);
});

test('every mark has its element, always nested in the same order', () => {
  const marks = ['code', 'superscript', 'subscript', 'highlight', 'underline', 'strike', 'italic', 'bold'];
  const inner = '<strong><em><s><u><mark><sub><sup><code>x</code></sup></sub></mark></u></s></em></strong>';
  expect(toHtml(p(text('x', ...marks, 'unknown', link('https://a.example/'))))).toBe(
    `<p><a href="https://a.example/" ${rel}>${inner}</a></p>`,
  );
  expect(toHtml(p(text('x', 'bold', 'bold')))).toBe('<p><strong>x</strong></p>');
});

test('a link is one link across the marks within it, and two targets are two links', () => {
  const to = link('https://a.example/');
  expect(toHtml(p(text('a', to), text('b', 'bold', to), text('c', link('https://b.example/')), 'd'))).toBe(
    `<p><a href="https://a.example/" ${rel}>a<strong>b</strong></a><a href="https://b.example/" ${rel}>c</a>d</p>`,
  );
});

test('a link opens beside the page, which may be framed; mail has a window of its own', () => {
  expect(toHtml(p(text('a', link('http://a.example/'))))).toContain('target="_blank"');
  expect(toHtml(p(text('a', link('mailto:a@b.example'))))).toBe(
    '<p><a href="mailto:a@b.example" rel="noopener noreferrer nofollow">a</a></p>',
  );
});

test('a link to anywhere but the web or a mailbox is only its words', () => {
  expect(toHtml(p(text('a', link('javascript:alert(1)')), text('b', link('/x'))))).toBe('<p>ab</p>');
});

test('a carried image is shown with its real size and kind, and what it says', () => {
  const src = dataUri('image/png', png(30, 20));
  const image = nodeWith('image', { src, alt: 'A "valve"', title: 'T', width: 9, style: 'x' });
  expect(toHtml(image)).toBe(
    `<p><img src="${src}" alt="A &quot;valve&quot;" title="T" width="30" height="20"/></p>`,
  );
  const disguised = dataUri('image/png', gif(3, 4));
  expect(toHtml(nodeWith('image', { src: disguised }))).toBe(
    `<p><img src="${disguised.replace('png', 'gif')}" alt="" width="3" height="4"/></p>`,
  );
});

test('an image on the web becomes a link with its alt text, or with its address', () => {
  const src = 'https://a.example/a.png';
  expect(toHtml(nodeWith('image', { src, alt: 'A valve' }))).toBe(
    `<p><a href="${src}" ${rel}>A valve</a></p>`,
  );
  expect(toHtml(nodeWith('image', { src }))).toBe(`<p><a href="${src}" ${rel}>${src}</a></p>`);
  const linked = { ...nodeWith('image', { src, alt: 'A valve' }), marks: [link('https://b.example/')] };
  expect(toHtml(p(linked))).toBe(`<p><a href="https://b.example/" ${rel}>A valve</a></p>`);
});

test('any other image is only its alt text', () => {
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

test('a task shows whether it is done, by a box that has a name and cannot be changed', () => {
  const task = (checked: unknown) => toHtml(node('taskList', nodeWith('taskItem', { checked }, p('a'))));
  const item = (state: string) =>
    `<ul class="task-list"><li class="task-item"><input type="checkbox" disabled=""${state} aria-label="Done"/><div><p>a</p></div></li></ul>`;
  expect(task(true)).toBe(item(' checked=""'));
  for (const checked of [false, 'true', undefined]) expect(task(checked)).toBe(item(''));
});

test('header cells at the top are the head of their columns, those further down of their rows', () => {
  const th = (words: string) => node('tableHeader', p(words));
  const td = nodeWith('tableCell', { colspan: 2, rowspan: 3 }, p('d'));
  const table = node('table', node('tableRow', th('a'), th('b')), node('tableRow', th('c'), td));
  expect(toHtml(table).replaceAll('\n', '')).toBe(
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col"><p>a</p></th><th scope="col"><p>b</p></th></tr></thead>' +
      '<tbody><tr><th scope="row"><p>c</p></th><td colspan="2" rowspan="3"><p>d</p></td></tr></tbody></table></div>',
  );
});

test('spans and starts that are no small whole numbers are left out', () => {
  for (const value of [1, 0, -1, 1.5, 1e9, '2', null, Number.NaN]) {
    expect(
      toHtml(node('table', node('tableRow', nodeWith('tableCell', { colspan: value, rowspan: value })))),
    ).toContain('<td></td>');
  }
  for (const start of [1, -1, 1.5, '3', 1e10])
    expect(toHtml(nodeWith('orderedList', { start }, li('a')))).toContain('<ol><li>');
});
