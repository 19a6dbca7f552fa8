/** Tests that mentions and formulas give their text to every renderer. */
import { expect, test } from '@jest/globals';
import { doc, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { toMarkdown } from '../markdown/markdown.ts';
import { getAttributeText } from './attribute-text.ts';
import { toHtml } from './html.ts';
import { toMdast } from './mdast.ts';
import { toPlainText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

const mention = nodeWith('mention', { id: 'u7', label: 'Ana_Ruiz' });
const formula = nodeWith('inlineMath', { latex: 'x_1^2 < \\pi' });

test.each<[string, RichText, string]>([
  ['the label of a mention', mention, 'Ana_Ruiz'],
  ['the id of a mention without a label', nodeWith('mention', { id: ' u7 ', label: null }), 'u7'],
  ['the id of a mention that is a number', nodeWith('mention', { id: 7 }), '7'],
  ['the text of a mention without both', nodeWith('mention', { text: 'Ana' }), 'Ana'],
  ['the LaTeX of a formula', formula, 'x_1^2 < \\pi'],
  ['the text of a formula without LaTeX', nodeWith('blockMath', { text: 'x' }), 'x'],
  ['nothing if the node has content', nodeWith('mention', { label: 'a' }, 'b'), ''],
  ['nothing if the attributes have other types', nodeWith('mention', { label: {}, id: Number.NaN }), ''],
  ['nothing for other nodes', nodeWith('image', { label: 'a', latex: 'b' }), ''],
])('getAttributeText gives %s', (_, content, expected) => {
  expect(getAttributeText(content)).toBe(expected);
});

test('every renderer writes mentions and formulas within their sentence', () => {
  const content = p('Ask ', mention, ' for ', formula, '.');
  expect(toPlainText(content)).toBe('Ask Ana_Ruiz for x_1^2 < \\pi.');
  expect(toHtml(content)).toBe('<p>Ask Ana_Ruiz for <code>x_1^2 &lt; \\pi</code>.</p>');
  expect(toMarkdown(toMdast(content))).toBe('Ask Ana_Ruiz for x_1^2 < \\pi.');
});

test('a block formula is a paragraph of its own', () => {
  const content = doc(p('a'), nodeWith('math_display', {}, 'x = 1'), nodeWith('blockMath', { latex: 'y' }));
  expect(toPlainText(content)).toBe('a\nx = 1\ny');
  expect(toWellFormed(content).content?.map(({ type }) => type)).toEqual([
    'paragraph',
    'paragraph',
    'paragraph',
  ]);
});

test('a mention without text gives nothing, a loose one stays in its line', () => {
  expect(toWellFormed(p('a', node('mention')))).toEqual(doc(p('a')));
  expect(toPlainText(doc(text('a '), mention, text(' b')))).toBe('a Ana_Ruiz b');
});

test('a mention has its marks', () => {
  const linked = { ...mention, marks: [link('mailto:a@b.example')] };
  expect(toHtml(p(linked))).toContain('<a href="mailto:a@b.example"');
});

test('mentions below 64 nested blocks give their text', () => {
  let deep = p(mention);
  for (let level = 0; level < 100; level++) deep = node('blockquote', deep);
  expect(toPlainText(deep)).toBe('Ana_Ruiz');
});
