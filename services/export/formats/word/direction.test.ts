/** Tests the direction of text in Word files: paragraphs, runs, tables and the template around them. */
import { expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { bullets, li, node, numbers, p, text } from '../../../../tests/word/corpus/everything.ts';
import {
  compile,
  createDocument,
  createNode,
  docx,
  renderParts,
  p as templateParagraph,
} from '../../../../tests/word/samples.ts';
import { createDefaultTemplate } from '../default-template.ts';

const body = async (
  content: RichText[],
  { title = 'Part', template = templateParagraph('{{content}}') } = {},
) => {
  const found = await renderParts(
    createDocument([createNode(title, content)]),
    await compile(docx(template)),
  );
  return found['word/document.xml'] ?? '';
};

/** Returns the paragraph that contains this text. */
const find = (xml: string, words: string) =>
  xml.match(/<w:p>(?:(?!<w:p>).)*?<\/w:p>/gs)?.find((paragraph) => paragraph.includes(words)) ?? '';

/** Returns the runs with text in order, those from right to left with "<". */
const getRuns = (xml: string) =>
  [...xml.matchAll(/<w:r>(?:<w:rPr>(.*?)<\/w:rPr>)?<w:t[^>]*>(.*?)<\/w:t>/g)].map(
    ([, properties = '', words]) => `${properties.endsWith('<w:rtl/>') ? '<' : '>'}${words}`,
  );

const cell = (...inner: RichText[]) => node('tableCell', {}, ...inner);
const row = (...cells: RichText[]) => node('tableRow', {}, ...cells);

test.each(['أغلق الصمام', 'סגור את השסתום', 'شیر را ببندید', 'والو بند کریں'])(
  '“%s” becomes a paragraph and a run from right to left',
  async (words) => {
    expect(find(await body([p(words)]), words)).toBe(
      `<w:p><w:pPr><w:bidi/><w:rPr><w:rtl/></w:rPr></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t xml:space="preserve">${words}</w:t></w:r></w:p>`,
    );
  },
);

test('words, numbers and code of both directions are separate runs', async () => {
  const content = [
    p('شغّل ', text('rm -rf شيء', 'code'), ' في SAP 4 مرتين (5 %)', text('.', 'bold')),
    p('See ', text('נוהל', 'bold'), ' 12, then stop.'),
  ];
  const xml = await body(content);
  const [arabic, english] = [find(xml, 'شغّل'), find(xml, 'See')];
  expect(getRuns(arabic)).toEqual(['<شغّل ', '>rm -rf شيء', '< في ', '>SAP 4', '< مرتين (5 %)', '<.']);
  expect(arabic).toContain('<w:rPr><w:b/><w:bCs/><w:rtl/></w:rPr>');
  expect(english).not.toContain('<w:bidi/>');
  expect(getRuns(english)).toEqual(['>See ', '<נוהל', '< 12', '>, then stop.']);
});

test.each([
  ['left', 'right'],
  ['right', 'left'],
  ['center', 'center'],
  ['justify', 'both'],
])('alignment %s of a paragraph from right to left is %s in Word', async (textAlign, value) => {
  const xml = await body([node('paragraph', { textAlign }, 'שלום')]);
  expect(find(xml, 'שלום')).toContain(`<w:bidi/><w:jc w:val="${value}"/>`);
  const latin = await body([node('paragraph', { textAlign }, 'a')]);
  expect(find(latin, '>a<')).toContain(`<w:jc w:val="${textAlign === 'justify' ? 'both' : textAlign}"/>`);
});

test('blocks of every kind and captions have the direction of their text', async () => {
  const pixel = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  const content = [
    node('heading', { level: 2 }, 'כותרת'),
    bullets(li('פריט'), li('Item')),
    numbers(3, li('שלב')),
    node('taskList', {}, node('taskItem', { checked: true }, p('משימה'))),
    node('callout', { kind: 'warning' }, p('סכנה')),
    node('blockquote', {}, p('ציטוט')),
    node('codeBlock', {}, '# הערה'),
    p('5'),
    node('paragraph', {}, { type: 'image', attrs: { src: pixel, title: 'תמונה' } }),
  ];
  const xml = await body(content, { title: 'חלק' });
  const words = ['חלק', 'כותרת', 'פריט', 'שלב', 'משימה', 'סכנה', 'WARNING', 'ציטוט', '>5<', 'תמונה'];
  for (const word of words) expect([word, find(xml, word).includes('<w:bidi/>')]).toEqual([word, true]);
  for (const word of ['Item', 'הערה'])
    expect([word, find(xml, word).includes('<w:bidi/>')]).toEqual([word, false]);
  expect(xml.match(/<w:tblPr><w:bidiVisual\/>/g)).toHaveLength(1);
});

test('the first cell with letters decides the direction of a table', async () => {
  const hebrew = node('table', {}, row(cell(p('1')), cell(p('שם'))), row(cell(p('2')), cell(p('Name'))));
  const english = node('table', {}, row(cell(p('1')), cell(p('Name'))), row(cell(p('2')), cell(p('שם'))));
  const xml = await body([hebrew]);
  expect(xml).toMatch(/<w:tblPr>(<w:tblStyle [^>]*>)?<w:bidiVisual\/><w:tblW /);
  // a number has the direction of its table
  expect(find(xml, '>2<')).toContain('<w:bidi/>');
  expect(find(xml, 'Name')).not.toContain('<w:bidi/>');
  const other = await body([english]);
  expect(other).not.toContain('<w:bidiVisual/>');
  expect(find(other, '>2<')).not.toContain('<w:bidi/>');
  expect(find(other, 'שם')).toContain('<w:bidi/>');
});

test('the built-in template is mirrored for a document from right to left', async () => {
  const sections = Array.from({ length: 8 }, (_, at) => createNode(`القسم ${at + 1}`, [p('نص')]));
  const found = await renderParts(
    createDocument(sections, { title: 'إجراء P-101', department: 'الصيانة' }),
    await createDefaultTemplate(),
  );
  const { 'word/document.xml': xml = '', 'word/header1.xml': header, 'word/footer1.xml': footer } = found;
  expect(find(xml, 'إجراء P-101')).toMatch(/<w:pStyle w:val="Title"\/><w:bidi\/>.*<w:rPr><w:rtl\/><\/w:rPr>/);
  expect(find(xml, 'الصيانة')).toMatch(/<w:bidi\/>.*<w:rtl\/>/);
  expect(find(xml, '>Department<')).toContain('<w:bidi/>');
  expect(find(xml, '>Contents<')).toContain('<w:bidi/>');
  for (const part of [xml, header, footer])
    for (const paragraph of part?.match(/<w:p>.*?<\/w:p>/gs) ?? [])
      if (!paragraph.includes('w:lineRule="exact"')) expect(paragraph).toContain('<w:bidi/>');
  for (const part of [xml, header]) expect(part).toContain('<w:tblPr><w:bidiVisual/>');
});

test('paragraphs of a template have the direction of their value', async () => {
  const right = '<w:keepNext/><w:jc w:val="right"/><w:rPr><w:b/></w:rPr>';
  const template = [
    templateParagraph('{{title}} &amp; {{version}}', right),
    templateParagraph('{{title}}'),
    `<w:p><w:r><w:t>{{title}}</w:t></w:r><w:r><w:tab/><w:t>x</w:t></w:r></w:p>`,
    '<w:p><w:r><w:rPr><w:b/><w:sz w:val="40"/><w:lang w:val="en-GB"/></w:rPr><w:t>{{title}}</w:t></w:r></w:p>',
    templateParagraph('Title: {{title}}'),
    '<w:p><w:r><w:instrText>REF a</w:instrText></w:r><w:r><w:t>{{title}}</w:t></w:r></w:p>',
    templateParagraph('{{content}}'),
  ].join('');
  const render = async (title: string) =>
    (await renderParts(createDocument([], { title }), await compile(docx(template))))['word/document.xml'] ??
    '';
  const paragraphs = (await render('& שלום')).match(/<w:p>.*?<\/w:p>/gs) ?? [];
  const value = '<w:t xml:space="preserve">&amp; שלום</w:t>';
  expect(paragraphs.slice(0, 6)).toEqual([
    // text stays at its side of the page
    `<w:p><w:pPr><w:keepNext/><w:bidi/><w:jc w:val="left"/><w:rPr><w:b/><w:bCs/></w:rPr></w:pPr><w:r><w:rPr><w:rtl/></w:rPr><w:t xml:space="preserve">&amp; שלום &amp; 1.2</w:t></w:r></w:p>`,
    `<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr>${value}</w:r></w:p>`,
    // tabs place text at both sides
    `<w:p><w:r><w:rPr><w:rtl/></w:rPr>${value}</w:r><w:r><w:tab/><w:t>x</w:t></w:r></w:p>`,
    `<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:rPr><w:b/><w:bCs/><w:sz w:val="40"/><w:szCs w:val="40"/><w:rtl/><w:lang w:val="en-GB"/></w:rPr>${value}</w:r></w:p>`,
    `<w:p><w:r><w:t xml:space="preserve">Title: &amp; שלום</w:t></w:r></w:p>`,
    // the letters of a field's instruction are not shown
    `<w:p><w:pPr><w:bidi/></w:pPr><w:r><w:instrText>REF a</w:instrText></w:r><w:r><w:rPr><w:rtl/></w:rPr>${value}</w:r></w:p>`,
  ]);
  expect(await render('Plain')).not.toMatch(/<w:(bidi|rtl|bCs)/);
});

test('styles without formats for complex scripts get them', async () => {
  const styles = async (title: string) =>
    (
      await renderParts(
        createDocument([createNode(title)]),
        await compile(docx(templateParagraph('{{content}}'))),
      )
    )['word/styles.xml'] ?? '';
  const [before, after] = [await styles('Plain'), await styles('שלום')];
  const heading = '<w:rPr><w:b/><w:i/><w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr>';
  expect(before).toContain(heading);
  expect(after).toBe(
    before
      .replace(/<w:b( w:val="0")?\/>(?!<w:bCs)/g, '$&<w:bCs$1/>')
      .replace(/<w:i\/>(?!<w:iCs)/g, '$&<w:iCs/>'),
  );
  expect(after).not.toContain(heading);
});
