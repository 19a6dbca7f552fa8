/** Tests {{history}}: a table of the published versions, wherever a paragraph is. */
import { expect, test } from '@jest/globals';
import {
  checkUpload,
  compile,
  createDocument,
  createNode,
  createRecord,
  docx,
  getText,
  p,
  R,
  rels,
  renderParts,
  types,
  W,
  WORD_TYPE,
} from '../../../../tests/word/samples.ts';

const content = p('{{content}}');
const table = [
  ...['Version', 'Published', 'Published by', '1.2', '2026-11-21', 'Bo Chen'],
  ...['1.0', '2026-10-05', 'Ada Lovelace'],
].join('\n');
const fill = async (inner: string, record = createRecord(), more = {}) =>
  renderParts(createDocument([createNode('First')], { record }), await compile(docx(inner, more)));
const getLines = async (inner: string, record = createRecord()) =>
  getText((await fill(inner, record))['word/document.xml']).replace(/\n+/g, '\n');

test('the history lists the published versions, the newest first', async () => {
  expect(await getLines(p('{{history}}') + content)).toBe(`${table}\nFirst`);
});

test('the last two rows of the history stay together', async () => {
  const { 'word/document.xml': xml = '' } = await fill(p('{{history}}') + content);
  const rows = [...xml.matchAll(/<w:tr>.*?<\/w:tr>/g)].map(
    ([row]) => row.match(/<w:keepNext\/>/g)?.length ?? 0,
  );
  expect(rows).toEqual([0, 3, 0]);
});

test('text beside {{history}} stays, and each of several is filled', async () => {
  const inner = p('Before {{history}} between {{history}} after') + content;
  expect(await getLines(inner)).toBe(`Before \n${table}\n between \n${table}\n after\nFirst`);
});

test('{{history}} in a header, a cell and content controls is filled', async () => {
  const control = (inner: string) => `<w:sdt><w:sdtPr/><w:sdtContent>${inner}</w:sdtContent></w:sdt>`;
  const cell = `<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w="9000"/></w:tblGrid><w:tr><w:tc>${p('{{history}}')}</w:tc></w:tr></w:tbl>`;
  const found = await fill(
    cell + control(p('{{history}}')) + control(p('{{history}}')) + content,
    createRecord(),
    {
      '[Content_Types].xml': types({ '/word/header1.xml': `${WORD_TYPE}.header+xml` }),
      'word/header1.xml': `<w:hdr xmlns:w="${W}" xmlns:r="${R}">${p('{{history}}')}</w:hdr>`,
      'word/_rels/document.xml.rels': rels(['rIdH', 'header', 'header1.xml']),
    },
  );
  const xml = found['word/document.xml'] ?? '';
  expect(xml.match(/Ada Lovelace/g)).toHaveLength(3);
  expect(xml).not.toContain('<w:sdt>');
  expect(xml).toMatch(/<\/w:tbl><w:p>.*?<\/w:p><\/w:tc>/);
  expect(found['word/header1.xml']).toContain('Ada Lovelace');
});

test('the history of an unpublished document says so', async () => {
  expect(await getLines(p('{{history}}') + content, createRecord({ history: [] }))).toContain(
    'not published yet',
  );
});

test('a long history names the number of versions that it omits', async () => {
  const version = { version: null, published_at: '2026-01-01T00:00:00.000Z', published_by: '' };
  const record = createRecord({ history: Array.from({ length: 203 }, () => version) });
  const lines = (await getLines(p('{{history}}') + content, record)).split('\n');
  expect(lines.filter((line) => line === '2026-01-01')).toHaveLength(200);
  expect(lines).toContain('3 earlier versions');
});

test('a template with more than ten {{history}} is rejected', async () => {
  expect(await checkUpload(docx(p('{{history}}').repeat(10) + content))).toBe('accepted');
  expect(await checkUpload(docx(p('{{history}}').repeat(11) + content))).toBe('too_many_placeholders');
});
