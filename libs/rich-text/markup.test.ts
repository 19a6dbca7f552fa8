/** Promises of the one place where HTML is written. */
import { expect, test } from '@jest/globals';
import { element, escapeHtml, type Html, html, joinHtml, style } from './markup.ts';

test('a text is shown as it is, wherever it stands', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  );
  expect(escapeHtml('a\0b\ud800')).toBe('ab\ufffd');
});

test('an attribute is escaped, and left out when it is undefined', () => {
  expect(element('p', { class: `a"><script>`, title: undefined, 'data-n': 3 }, escapeHtml('<'))).toBe(
    '<p class="a&quot;&gt;&lt;script&gt;" data-n="3">&lt;</p>',
  );
});

test('an element without inner HTML is void, one with nothing in it is not', () => {
  expect(element('br', {})).toBe('<br/>');
  expect(element('p', {}, joinHtml([]))).toBe('<p></p>');
});

test('a template takes what was made here and nothing else', () => {
  expect(html`<p>${escapeHtml('a & b')}</p>\n${joinHtml([escapeHtml('<'), escapeHtml('>')], ' ')}`).toBe(
    '<p>a &amp; b</p>\n&lt; &gt;',
  );
  const given: string = '<script>';
  // @ts-expect-error a string that was not made here is no HTML
  const wrong: Html = html`${given}`;
  expect(wrong).toBe(given);
});

test('a style sheet cannot end its element', () => {
  expect(style('a > b { color: red }')).toBe('<style>a > b { color: red }</style>');
  expect(() => style('</style><script>')).toThrow('<');
});
