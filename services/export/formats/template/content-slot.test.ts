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

test.each([
  ['{{content}}', 'First\nhello', /<w:pageBreakBefore\/>.*First/],
  ['{{content}} end', 'First\nhello\n end', /<w:pageBreakBefore\/>.*First/],
  ['Begin {{content}} end', 'Begin \nFirst\nhello\n end', /<w:pageBreakBefore\/>.*Begin/],
])('the page break before "%s" stays before it, once', async (text, expected, place) => {
  const xml = await fill(p('Cover') + p(text, '<w:pageBreakBefore/>'));
  expect(getText(xml).replace(/\n+/g, '\n')).toBe(`Cover\n${expected}`);
  expect(xml).toMatch(place);
  expect(xml.match(/<w:pageBreakBefore\/>/g)).toHaveLength(1);
  expect(await fill(p(text, '<w:pageBreakBefore w:val="0"/>'))).not.toContain('<w:pageBreakBefore/>');
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

test('a tracked change around {{content}} gets a new id behind it', async () => {
  const xml = await fill(
    '<w:p><w:pPr><w:rPr><w:ins w:id="4" w:author="b"/></w:rPr></w:pPr><w:bookmarkStart w:id="5" w:name="a"/>' +
      '<w:ins w:id="5" w:author="b"><w:r><w:t>Begin {{content}} end</w:t></w:r></w:ins><w:bookmarkEnd w:id="5"/></w:p>' +
      '<w:p><w:ins w:id="8" w:author="b"><w:r><w:t>After</w:t></w:r></w:ins></w:p>',
  );
  expect(getText(xml)).toBe('Begin \nFirst\nhello\n end\nAfter');
  expect([...xml.matchAll(/<w:ins w:id="(\d+)"/g)].map(([, id]) => id)).toEqual(['4', '5', '9', '10', '8']);
  expect(xml).toContain('<w:bookmarkEnd w:id="5"/>');
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

test.each([
  ['a percentage', '<w:tcW w:w="3500" w:type="pct"/>'],
  ['an automatic width', '<w:tcW w:w="0" w:type="auto"/>'],
  ['no width', ''],
])('{{content}} in a cell with %s has the width of its columns', async (_what, width) => {
  const cell = (properties: string, text: string) => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
  const row = (span: number) =>
    '<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>' +
    `<w:sdt><w:sdtContent>${cell('<w:gridSpan w:val="2"/>', 'a')}</w:sdtContent></w:sdt>` +
    `${cell(`${width}<w:gridSpan w:val="${span}"/>`, '{{content}}')}</w:tr>`;
  const columns = [100, 200, 400, 2_000, 1_216].map((each) => `<w:gridCol w:w="${each}"/>`).join('');
  const getWidth = async (span: number, grid = columns) =>
    (await compile(docx(`<w:tbl><w:tblGrid>${grid}</w:tblGrid>${row(span)}</w:tbl>`))).plan.room.width;
  expect(await getWidth(2)).toBe(3_000);
  expect(await getWidth(1)).toBe(1_784);
  expect(await getWidth(2, '<w:gridCol/>'.repeat(5))).toBe(9_026);
});

test('in columns of unequal width, the text area is the narrowest column', async () => {
  const section = (equalWidth: string) =>
    `<w:sectPr><w:pgSz w:w="12000" w:h="9000"/><w:pgMar w:left="500" w:right="500"/><w:cols w:num="2" w:space="0"${equalWidth}>` +
    '<w:col w:w="7400" w:space="600"/><w:col w:w="3000"/></w:cols></w:sectPr>';
  const getWidth = async (equalWidth: string) =>
    (await compile(docx(p('{{content}}') + section(equalWidth)))).plan.room.width;
  expect(await getWidth(' w:equalWidth="0"')).toBe(3_000);
  expect(await getWidth('')).toBe(5_500);
});

test('the text area is that of the section with {{content}}', async () => {
  const section = (width: number) =>
    `<w:sectPr><w:pgSz w:w="${width}" w:h="9000"/><w:pgMar w:left="500" w:right="500"/></w:sectPr>`;
  const file = docx(
    `${p('a', section(20_000))}${p('{{content}}')}${p('b', section(8_000))}${section(9_000)}`,
  );
  expect((await compile(file)).plan.room.width).toBe(7_000);
});
