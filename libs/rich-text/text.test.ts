/** Tests of the plain text for the search index. */
import { expect, test } from '@jest/globals';
import { br, doc, li, link, node, nodeWith, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { toPlainText } from './text.ts';

test('toPlainText writes each non-empty block as one line', () => {
  const content = doc(
    nodeWith('heading', { level: 2 }, 'Before you start'),
    p('Wear ', text('safety', 'bold'), ' ', text('glasses', link('https://a.example'))),
    p(),
    node('orderedList', li('One', node('bulletList', li('One a'))), li('Two')),
    node('table', node('tableRow', node('tableHeader', p('Part')), node('tableCell', p('Bolt')))),
    { type: 'horizontalRule' },
    node('blockquote', p('Quoted')),
  );
  const lines = ['Before you start', 'Wear safety glasses', 'One', 'One a', 'Two', 'Part', 'Bolt', 'Quoted'];
  expect(toPlainText(content)).toBe(lines.join('\n'));
});

test('toPlainText collapses breaks and white space within a block', () => {
  expect(toPlainText(p(' a\n b ', br, '\tc\r\n', br))).toBe('a b c');
  expect(toPlainText(p('a', br, 'b'))).toBe('a b');
  expect(toPlainText(node('codeBlock', 'one\n\n  two'))).toBe('one two');
});

test('toPlainText writes the alt text of an image if it is a string', () => {
  const image = (alt: unknown) => nodeWith('image', { src: 'https://a.example/a.png', alt });
  expect(toPlainText(doc(image('A valve'), p('Open ', image('it'), '.'), image(7)))).toBe(
    'A valve\nOpen it.',
  );
});

test('toPlainText writes the signal word of a callout', () => {
  expect(toPlainText(doc(node('callout', p('Hot'))))).toBe('NOTE\nHot');
});

test('toPlainText writes the text of unknown nodes', () => {
  expect(toPlainText(doc(node('panel', p('Hot'), node('x', 'y')), { type: 'note', text: 'z' }))).toBe(
    'Hot\ny\nz',
  );
});

test('toPlainText removes control characters and lone surrogates', () => {
  expect(toPlainText(p('a\0b\u0007c\ud800d\ufffee 漢😀'))).toBe('abc\ufffdde 漢😀');
});

test('toPlainText handles very deep, wide and long input', () => {
  let deep = p('core');
  for (let level = 0; level < 50_000; level++) deep = { type: 'blockquote', content: [deep] };
  expect(toPlainText(deep)).toBe('core');
  const wide = { type: 'doc', content: Array.from({ length: 200_000 }, () => p('x')) };
  expect(toPlainText(wide)).toHaveLength(399_999);
  expect(toPlainText(p(`${' '.repeat(500_000)}x`))).toBe('x');
});
