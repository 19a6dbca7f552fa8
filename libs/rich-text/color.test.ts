/** Tests of the colours of text. */
import { expect, test } from '@jest/globals';
import { link, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { getColor, getColorName, parseColor } from './color.ts';
import { toHtml } from './html.ts';

const colored = (color: unknown, value = 'x') => text(value, { type: 'textStyle', attrs: { color } });

test.each([
  ['#C00', '#cc0000'],
  [' #12abEF ', '#12abef'],
  ['rgb(1, 20,255)', '#0114ff'],
  ['rgb(1 20 255 / 50%)', '#0114ff'],
  ['rgba(1, 20, 255, 0.5)', '#0114ff'],
  ['RebeccaPurple', '#663399'],
  ['black', '#000000'],
])('getColor reads %s as %s', (written, color) => {
  expect(getColor(colored(written))).toBe(color);
});

test.each([
  undefined,
  null,
  7,
  '',
  '#12',
  '#1234567',
  'rgb(256, 0, 0)',
  'rgb(1, 2)',
  'rgb(calc(1), 2, 3)',
  'var(--x)',
  'url(//a.example)',
  'red;background:url(//a.example)',
  'red" onclick="alert(1)',
  'currentcolor',
  'constructor',
  `rgb(${' '.repeat(100)}1,2,3)`,
])('getColor ignores %p', (written) => {
  expect(getColor(colored(written))).toBeUndefined();
});

test('getColor reads only textStyle marks', () => {
  expect(getColor(text('x', { type: 'highlight', attrs: { color: 'red' } }))).toBeUndefined();
  expect(getColor(text('x'))).toBeUndefined();
});

test.each([
  ['#ff0000', 'red'],
  ['#8b0000', 'red'],
  ['#ffff00', 'yellow'],
  ['#ff8c00', 'orange'],
  ['#00ff00', 'green'],
  ['#00ffff', 'cyan'],
  ['#1971c2', 'sky'],
  ['#0000ff', 'blue'],
  ['#958df1', 'blue'],
  ['#ff00ff', 'magenta'],
  ['#ff0001', 'red'],
  ['#808080', 'gray'],
  ['#ffffff', 'gray'],
])('%s is shown as %s on the page', (color, name) => {
  expect(getColorName(color)).toBe(name);
});

test.each(['#000000', '#1b2430', '#333333'])('%s is the colour of all text on the page', (color) => {
  expect(getColorName(color)).toBeUndefined();
  expect(toHtml(p(colored(color)))).toBe('<p>x</p>');
});

test('text of one colour shares a span inside its link', () => {
  const to = link('mailto:a@b.example');
  const red = { type: 'textStyle', attrs: { color: 'red' } };
  expect(toHtml(p(text('a', red, to), text('b', 'bold', red, to), text('c', 'bold')))).toBe(
    '<p><a href="mailto:a@b.example" rel="noopener noreferrer nofollow"><span class="color-red">a<strong>b</strong></span></a><strong>c</strong></p>',
  );
});

test('parseColor knows the 148 names of CSS', async () => {
  const { namedColors } = await import('./named-colors.ts');
  expect(namedColors.size).toBe(148);
  for (const [name, digits] of namedColors) expect(parseColor(name)).toBe(`#${digits}`);
});
