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

test('a picture beside {{content}} stays', async () => {
  const xml = await fill('<w:p><w:r><w:pict/></w:r><w:r><w:t>{{content}}</w:t></w:r></w:p>');
  expect(xml).toMatch(/<w:pict\/>.*First/);
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
