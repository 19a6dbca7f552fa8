/** Tests of the functions that write HTML. */
import { expect, test } from '@jest/globals';
import { element, escapeHtml, type Html, html, joinHtml, style } from './markup.ts';

test('escapeHtml escapes text for elements and attributes', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  );
  expect(escapeHtml('a\0b\ud800')).toBe('ab\ufffd');
});

test('element escapes attributes and omits undefined ones', () => {
  expect(element('p', { class: `a"><script>`, title: undefined, 'data-n': 3 }, escapeHtml('<'))).toBe(
    '<p class="a&quot;&gt;&lt;script&gt;" data-n="3">&lt;</p>',
  );
});

test('element writes a void element only without inner HTML', () => {
  expect(element('br', {})).toBe('<br/>');
  expect(element('p', {}, joinHtml([]))).toBe('<p></p>');
});

test('the html tag accepts only Html values', () => {
  expect(html`<p>${escapeHtml('a & b')}</p>\n${joinHtml([escapeHtml('<'), escapeHtml('>')], ' ')}`).toBe(
    '<p>a &amp; b</p>\n&lt; &gt;',
  );
  const plain: string = '<script>';
  // @ts-expect-error a plain string is not Html
  const wrong: Html = html`${plain}`;
  expect(wrong).toBe(plain);
});

test('style rejects a style sheet that could end its element', () => {
  expect(style('a > b { color: red }')).toBe('<style>a > b { color: red }</style>');
  expect(() => style('</style><script>')).toThrow('<');
});
