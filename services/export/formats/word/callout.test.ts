/** Tests callouts, coloured text, and pictures with captions in Word files. */
import { inflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { unpack } from '#libs/opc';
import type { RichText } from '#libs/rich-text';
import { calloutSymbols } from '../../../../tests/fixtures/generators/callout-symbols.ts';
import { encodePng } from '../../../../tests/fixtures/generators/png.ts';
import {
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  getText,
  p,
  renderParts,
} from '../../../../tests/word/samples.ts';
import { renderWord } from '../word.ts';

const render = async (content: RichText[], title = 'Leaf') => {
  const template = await compile(docx(p('{{content}}')));
  return (
    (await renderParts(createDocument([createNode(title, content)]), template))['word/document.xml'] ?? ''
  );
};
const callout = (kind: string, ...content: RichText[]): RichText => ({
  type: 'callout',
  attrs: { kind },
  content,
});
const image = (width: number, height: number, attrs = {}): RichText => {
  const bytes = encodePng(width, height, () => [0, 0, 0, 255]).toString('base64');
  const src = `data:image/png;base64,${bytes}`;
  return { type: 'paragraph', content: [{ type: 'image', attrs: { src, ...attrs } }] };
};
const getSizes = (xml: string) =>
  [...xml.matchAll(/<wp:extent cx="(\d+)" cy="(\d+)"/g)].map(([, ...size]) =>
    size.map((emu) => Number(emu) / 635),
  );

test.each([
  ['danger', 'DANGER', 'B3121D', 'FFFFFF'],
  ['warning', 'WARNING', 'F28C28', '000000'],
  ['caution', 'CAUTION', 'F5C400', '000000'],
  ['note', 'NOTE', '0B4F94', 'FFFFFF'],
  ['panel', 'NOTE', '0B4F94', 'FFFFFF'],
])('a callout of the kind %s has the signal word %s in a box', async (kind, word, fill, color) => {
  const xml = await render([callout(kind, createParagraph('inside'))]);
  expect(getText(xml)).toBe(`Leaf\n\u2002${word}\ninside`);
  expect(xml).toContain(`w:fill="${fill}"/>`);
  expect(xml).toContain(`<w:color w:val="${color}"/></w:rPr><w:t xml:space="preserve">\u2002${word}</w:t>`);
});

/** How much darker a frame is than paper (WCAG 2, contrast ratio). */
function getContrast(color: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

test('each kind of callout has its own dark frame', async () => {
  const frames = [];
  for (const kind of ['danger', 'warning', 'caution', 'note']) {
    const xml = await render([callout(kind, createParagraph('inside'))]);
    const frame = /<w:left w:val="(\w+)" w:sz="(\d+)" w:space="0" w:color="(\w{6})"\/>/.exec(xml);
    expect(getContrast(frame?.[3] ?? 'FFFFFF')).toBeGreaterThan(4.5);
    frames.push(`${frame?.[1]} ${frame?.[2]}`);
  }
  expect(new Set(frames).size).toBe(4);
});

test('a callout has the symbol of the public page, once in the file', async () => {
  const template = await compile(docx(p('{{content}}')));
  const blocks = ['warning', 'caution', 'warning', 'danger', 'note'].map((kind) =>
    callout(kind, createParagraph('a')),
  );
  const bytes = await renderWord(createDocument([createNode('Leaf', blocks)]), template, { indentInches: 0 });
  const parts = await unpack(bytes);
  const xml = Buffer.from(parts.get('word/document.xml') ?? []).toString('utf8');
  expect(xml.match(/<w:drawing>.*?<\/w:drawing>(?=<\/w:r><w:r><w:rPr><w:b\/>)/g)).toHaveLength(5);
  const pictures = [...parts].filter(([name]) => name.includes('/media/')).map(([, png]) => png);
  const { blackAlert, whiteAlert, whiteInformation } = calloutSymbols;
  expect(pictures.map(inflatePixels)).toEqual([blackAlert, whiteAlert, whiteInformation].map(inflatePixels));
});

/** Returns the pixels of a PNG with one part of data, which do not depend on the compressor. */
function inflatePixels(png: Uint8Array): string {
  const bytes = Buffer.from(png);
  const at = bytes.indexOf('IDAT');
  return inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4))).toString('base64');
}

test('a callout stays on one page, and its band with the text below', async () => {
  const xml = await render([callout('note', createParagraph('inside'))]);
  expect(xml.match(/<w:cantSplit\/>/g)).toHaveLength(2);
  expect(xml).toMatch(/<w:tblHeader\/>.*?<w:keepNext\/>.*?NOTE/);
});

test('a callout contains lists, tables and callouts', async () => {
  const list = { type: 'bulletList', content: [{ type: 'listItem', content: [createParagraph('item')] }] };
  const table = {
    type: 'table',
    content: [{ type: 'tableRow', content: [{ type: 'tableCell', content: [createParagraph('cell')] }] }],
  };
  const xml = await render([callout('note', list, table, callout('danger', createParagraph('inner')))]);
  expect(getText(xml).split(/\n+/)).toEqual(['Leaf', '\u2002NOTE', 'item', 'cell', '\u2002DANGER', 'inner']);
  expect(xml.match(/<\/w:tc>/g)?.length).toBe(xml.match(/(<\/w:p>|<w:p\/>)<\/w:tc>/g)?.length);
});

test('text has the colour of its textStyle mark', async () => {
  const mark = (color: unknown) => ({ type: 'textStyle', attrs: { color } });
  const text = (value: string, color: unknown) => ({ type: 'text', text: value, marks: [mark(color)] });
  const xml = await render([
    { type: 'paragraph', content: [text('red', '#C00000'), text('none', 'url(x)')] },
  ]);
  expect(xml).toContain('<w:rPr><w:color w:val="C00000"/></w:rPr><w:t xml:space="preserve">red');
  expect(xml).toContain('<w:r><w:t xml:space="preserve">none');
});

test('the title of a picture is its caption and stays with it', async () => {
  const xml = await render([image(10, 10, { title: 'Figure 1: <Valve>' })]);
  expect(getText(xml)).toBe('Leaf\n\nFigure 1: &lt;Valve&gt;');
  expect(xml).toMatch(/<w:keepNext\/>(?:(?!<w:p>).)*<w:drawing>.*<w:pStyle w:val="Caption"\/>/);
});

test('a picture without a title has no caption', async () => {
  expect(await render([image(10, 10, { alt: 'Valve' })])).not.toContain('Caption');
});

test('a picture in a list item has its caption below', async () => {
  const item = { type: 'listItem', content: [image(10, 10, { title: 'Valve' }), createParagraph('after')] };
  expect(getText(await render([{ type: 'bulletList', content: [item] }]))).toBe('Leaf\n\nValve\nafter');
});

test('a tall picture leaves room for its heading and caption', async () => {
  // the text area of the smallest template: A4 with margins of one inch
  const page = 16_838 - 2 * 1_440;
  const [[, plain = 0] = []] = getSizes(await render([image(100, 2_000)]));
  const [[, captioned = 0] = []] = getSizes(await render([image(100, 2_000, { title: 'Valve' })]));
  const [[, below = 0] = []] = getSizes(await render([image(100, 2_000)], 'A long title '.repeat(12)));
  expect(plain).toBeLessThan(page - 900);
  expect(plain).toBeGreaterThan(page * 0.9);
  expect(captioned).toBeLessThan(plain - 400);
  expect(below).toBeLessThan(plain - 900);
});

test('a heading stays with the picture below it', async () => {
  expect(await render([image(10, 10)])).toMatch(/<w:pStyle w:val="Heading1"\/><w:keepNext\/>/);
});
