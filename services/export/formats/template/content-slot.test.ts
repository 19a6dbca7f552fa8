/** Tests {{content}}: the document replaces it, and nothing beside it is lost. */
import { expect, test } from '@jest/globals';
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

const fill = async (inner: string, nodes = [createNode('First', [createParagraph('hello')])]) =>
  (await renderParts(createDocument(nodes), await compile(docx(inner))))['word/document.xml'] ?? '';

test('the document replaces the paragraph with {{content}}', async () => {
  expect(getText(await fill(p('Before') + p(' {{content}} ') + p('After')))).toBe(
    'Before\nFirst\nhello\nAfter',
  );
});

test('text beside {{content}} stays in paragraphs with the same style', async () => {
  const xml = await fill(p('Begin {{content}} end', '<w:jc w:val="center"/>'));
  expect(getText(xml)).toBe('Begin \nFirst\nhello\n end');
  expect(xml.match(/<w:jc w:val="center"\/>/g)).toHaveLength(2);
});

const math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"';
test.each([
  ['picture', '<w:r><w:pict/></w:r>', /<w:pict\/>.*First/],
  ['reference to an endnote', '<w:r><w:endnoteReference w:id="1"/></w:r>', /<w:endnoteReference .*First/],
  ['formula', `<m:oMath ${math}><m:r><m:t>E</m:t></m:r></m:oMath>`, /<m:t>E<.*First/],
  [
    'formula on its own line',
    `<m:oMathPara ${math}><m:oMath><m:r><m:t>E</m:t></m:r></m:oMath></m:oMathPara>`,
    /<m:t>E<.*First/,
  ],
])('a %s beside {{content}} stays', async (_what, markup, expected) => {
  expect(await fill(`<w:p>${markup}<w:r><w:t>{{content}}</w:t></w:r></w:p>`)).toMatch(expected);
});

test('the document replaces a field, and text in the field stays', async () => {
  const field = (text: string) =>
    `<w:p><w:fldSimple w:instr=" TITLE "><w:r><w:t>${text}</w:t></w:r></w:fldSimple></w:p>`;
  const xml = await fill(field('{{content}}'));
  expect(getText(xml)).toBe('First\nhello');
  expect(xml).not.toContain('TITLE');
  const around = await fill(field('Begin {{content}}'));
  expect(getText(around)).toBe('Begin \nFirst\nhello');
  expect(around.match(/TITLE/g)).toHaveLength(1);
});

test('{{content}} in a paragraph whose move is tracked counts once', async () => {
  const move = (kind: string, id: number) =>
    `<w:p><w:${kind}RangeStart w:id="${id}" w:name="a"/><w:${kind} w:id="${id + 1}" w:author="b">` +
    `<w:r><w:t>{{content}}</w:t></w:r></w:${kind}></w:p><w:${kind}RangeEnd w:id="${id}"/>`;
  const xml = await fill(move('moveTo', 1) + p('Between') + move('moveFrom', 3));
  expect(getText(xml)).toBe('First\nhello\nBetween\n{{content}}');
  expect(xml).toMatch(/<w:moveToRangeStart .*First.*<w:moveToRangeEnd .*<w:moveFrom /);
});

test('a section break at {{content}} comes once after the document', async () => {
  const xml = await fill(
    `${p('Begin {{content}}', '<w:sectPr><w:titlePg/></w:sectPr>')}${p('After')}<w:sectPr/>`,
  );
  expect(xml.match(/<w:sectPr><w:titlePg\/>/g)).toHaveLength(1);
  expect(xml).toMatch(/hello.*<w:titlePg\/>.*After/);
});

test('bookmarks around {{content}} enclose the document', async () => {
  const xml = await fill(
    '<w:p><w:bookmarkStart w:id="1" w:name="a"/><w:r><w:t>{{content}}</w:t></w:r><w:bookmarkEnd w:id="1"/></w:p>',
  );
  expect(xml).toMatch(/<w:bookmarkStart[^>]*>.*hello.*<w:bookmarkEnd/);
});

test.each([
  ['inside a paragraph', (inner: string) => `<w:p>${inner}</w:p>`, '<w:r><w:t>{{content}}</w:t></w:r>'],
  ['around a paragraph', (inner: string) => inner, p('{{content}}')],
])('the document replaces a content control %s', async (_where, around, inner) => {
  const control = `<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>${inner}</w:sdtContent></w:sdt>`;
  const xml = await fill(around(control));
  expect(getText(xml)).toBe('First\nhello');
  expect(xml).not.toContain('w:sdt');
});

test('{{content}} in a table cell has the width of the cell', async () => {
  const cell = `<w:tc><w:tcPr><w:tcW w:w="5216" w:type="dxa"/></w:tcPr>${p('{{content}}')}</w:tc>`;
  const file = docx(`<w:tbl><w:tr>${cell}</w:tr></w:tbl>`);
  const template = await compile(file);
  expect(template.plan.room.width).toBe(5_000);
  const { 'word/document.xml': xml } = await renderParts(createDocument([]), template);
  expect(xml).toContain('<w:p/></w:tc>');
});

test('the text area is that of the section with {{content}}', async () => {
  const section = (width: number) =>
    `<w:sectPr><w:pgSz w:w="${width}" w:h="9000"/><w:pgMar w:left="500" w:right="500"/></w:sectPr>`;
  const file = docx(
    `${p('a', section(20_000))}${p('{{content}}')}${p('b', section(8_000))}${section(9_000)}`,
  );
  expect((await compile(file)).plan.room.width).toBe(7_000);
});
