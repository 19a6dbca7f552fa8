/** Tests template uploads: which files are rejected and why, which are accepted, and the three modes. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import {
  body,
  checkUpload,
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  getText,
  p,
  parts,
  R,
  rels,
  renderParts,
  types,
  W,
  WORD_TYPE,
  zip,
} from '../../../tests/word/samples.ts';
import { faultCodes } from './template/fault.ts';
import { compileTemplate } from './template.ts';

const content = p('{{content}}');
const DOCUMENT_TYPE = 'application/vnd.openxmlformats-officedocument';
const mainType = (type: string) =>
  docx(content, { '[Content_Types].xml': types({ '/word/document.xml': type }) });
const withRelationship = (type: string, target: string) =>
  docx(content, { 'word/_rels/document.xml.rels': rels(['rId1', type, target]) });

test.each<[string, Uint8Array, string]>([
  ['a zip of something else', zip([{ name: 'a.txt', data: 'a' }]), 'not_docx'],
  ['a file without content types', zip(parts(content).slice(1)), 'not_docx'],
  [
    'a file without relationships',
    zip(parts(content).filter(({ name }) => name !== '_rels/.rels')),
    'not_docx',
  ],
  ['a file whose main part is missing', zip(parts(content).slice(0, 2)), 'missing_part'],
  ['a file without a main part', docx(content, { '_rels/.rels': rels() }), 'not_docx'],
  ['a missing picture', withRelationship('image', 'media/none.png'), 'missing_part'],
  ['a target outside the file', withRelationship('image', '../../../etc/passwd'), 'missing_part'],
  [
    'a part without a content type',
    docx(content, { 'word/a.zzz': '', 'word/_rels/document.xml.rels': rels(['r', 'image', 'a.zzz']) }),
    'missing_type',
  ],
  ['an Excel workbook', mainType(`${DOCUMENT_TYPE}.spreadsheetml.sheet.main+xml`), 'not_docx'],
  ['a presentation', mainType(`${DOCUMENT_TYPE}.presentationml.presentation.main+xml`), 'not_docx'],
  ['a .dotx', mainType(`${WORD_TYPE}.template.main+xml`), 'dotx'],
  ['a .docm', mainType('application/vnd.ms-word.document.macroEnabled.main+xml'), 'macros'],
  ['a .dotm', mainType('application/vnd.ms-word.template.macroEnabledTemplate.main+xml'), 'macros'],
  ['a .docx with macros in it', docx(content, { 'word/vbaProject.bin': 'x' }), 'macros'],
  [
    'macros under another name',
    docx(content, {
      'word/a.bin': 'x',
      'word/_rels/document.xml.rels': rels([
        'r',
        'http://schemas.microsoft.com/office/2006/relationships/vbaProject',
        'a.bin',
      ]),
    }),
    'macros',
  ],
  [
    'a Strict document',
    docx(content, {
      '_rels/.rels': rels([
        'rId1',
        'http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument',
        'word/document.xml',
      ]),
    }),
    'strict_ooxml',
  ],
  [
    'a DOCTYPE',
    docx(content, { 'word/document.xml': `<!DOCTYPE w [<!ENTITY a "b">]>${body(content)}` }),
    'xml_doctype',
  ],
  [
    'a part in another encoding',
    docx(content, theme('<?xml version="1.0" encoding="windows-1252"?><a/>')),
    'xml_malformed',
  ],
  [
    'macros by their content type only',
    docx(content, {
      '[Content_Types].xml': types({ '/word/a.xml': 'application/vnd.ms-office.vbaProject' }),
      'word/a.xml': '<a/>',
    }),
    'macros',
  ],
  ['an undefined entity', docx(p('&lol;')), 'xml_malformed'],
  [
    'an XInclude',
    docx(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///a"/>${content}`),
    'xml_include',
  ],
  [
    'an XInclude in an unused part',
    docx(content, theme('<a><i:include xmlns:i="http://www.w3.org/2003/XInclude" href="a"/></a>')),
    'xml_include',
  ],
  ['a DOCTYPE in an unused part', docx(content, theme('<!DOCTYPE a><a/>')), 'xml_doctype'],
  ['a part that is not well-formed', docx(content, theme('<a><b></a>')), 'xml_malformed'],
  ['an element without its namespace', docx('<x:y/>'), 'xml_malformed'],
  [
    'bytes that are not UTF-8',
    zip(
      parts(content).map((part) =>
        part.name === 'word/document.xml'
          ? { ...part, data: Buffer.from(body(p('\u00e9')), 'latin1') }
          : part,
      ),
    ),
    'xml_malformed',
  ],
  ['300 levels', docx('<w:smartTag>'.repeat(300) + '</w:smartTag>'.repeat(300)), 'xml_too_deep'],
  [
    'more than half a million elements',
    zip(parts('<w:p/>'.repeat(600_000)).map((part) => ({ ...part, method: 0 }))),
    'xml_too_large',
  ],
  ['a main part that is not a document', docx(content, { 'word/document.xml': '<w/>' }), 'not_docx'],
  ['{{content}} twice', docx(content + content), 'content_twice'],
  ['{{content}} twice in a line', docx(p('{{content}} {{content}}')), 'content_twice'],
  [
    '{{content}} in a text box',
    docx(
      `<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox><w:txbxContent>${content}</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>`,
    ),
    'content_place',
  ],
  ['{{content}} in a header', docx(content, header(p('{{content}}'))), 'content_place'],
])('a template with the fault "%s" is rejected', async (_what, file, code) => {
  expect(await checkUpload(file)).toBe(code);
});

test.each<[string, Uint8Array]>([
  [
    'a main part under another name',
    zip([
      { name: '[Content_Types].xml', data: types({ '/doc/main.xml': `${WORD_TYPE}.document.main+xml` }) },
      { name: '_rels/.rels', data: rels(['rId1', 'officeDocument', '/doc/main.xml']) },
      { name: 'doc/main.xml', data: body(content) },
    ]),
  ],
  [
    'another prefix',
    docx(content, {
      'word/document.xml': body(content).replaceAll('w:', 'ns0:').replace('xmlns:w=', 'xmlns:ns0='),
    }),
  ],
  [
    'UTF-16',
    zip(
      parts(content).map((part) =>
        part.name === 'word/document.xml'
          ? { ...part, data: Buffer.from(`\uFEFF${body(content)}`, 'utf16le') }
          : part,
      ),
    ),
  ],
  [
    'a target in another case',
    docx(content, { '_rels/.rels': rels(['rId1', 'officeDocument', 'Word/Document.xml']) }),
  ],
  [
    'a target with escaped characters',
    docx(content, {
      'word/a b.png': 'x',
      'word/_rels/document.xml.rels': rels(['rIdI', 'image', 'a%20b.png']),
    }),
  ],
  ['an unused part', docx(content, { '[trash]/0000.xml': '<a/>' })],
  ['a comment and a processing instruction', docx(`<!-- hello --><?word x?>${content}`)],
])('a template with %s can be rendered', async (_what, file) => {
  const template = await compile(file);
  const found = await renderParts(
    createDocument([createNode('First', [createParagraph('hello')])]),
    template,
  );
  expect(getText(found[template.plan.main])).toBe('First\nhello');
});

test('a file has no comments and processing instructions of its template', async () => {
  const parts = { 'word/styles.xml': `<w:styles xmlns:w="${W}"><!-- <w:rPr> --><?word x?></w:styles>` };
  const template = await compile(docx(`<!-- <w:r><w:rPr> --><?word x?>${content}`, parts));
  const found = await renderParts(createDocument([createNode('First')]), template);
  for (const part of ['word/document.xml', 'word/styles.xml'])
    expect([part, found[part]]).toEqual([part, expect.not.stringMatching(/<!--|<\?word/)]);
});

test('every reject reason of a template is documented', async () => {
  const page = await readFile(new URL('../../../docs/word-templates.md', import.meta.url), 'utf8');
  expect(faultCodes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});

test('a rejection tells the uploader what to do', async () => {
  const compilation = await compileTemplate(mainType(`${WORD_TYPE}.template.main+xml`));
  expect(compilation).toEqual({
    ok: false,
    fault: {
      code: 'dotx',
      message: 'The file is a Word template (.dotx); save it as "Word Document (.docx)" and upload that.',
    },
  });
});

test('known placeholders are listed, unknown ones cause a warning', async () => {
  const template = await compile(docx(p('{{Title}} {{ version }} {{contents}}') + content));
  expect(template.placeholders).toEqual(['title', 'version', 'content']);
  expect(template.warnings).toEqual([expect.stringContaining('{{contents}} is unknown and stays unchanged')]);
});

test('a template has a checksum, and its plan can be stored as JSON', async () => {
  const template = await compile(docx(content));
  expect(template.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.parse(JSON.stringify(template.plan))).toEqual(template.plan);
});

test('every compilation uses another nonce for its slots', async () => {
  const [first, second] = [await compile(docx(content)), await compile(docx(content))];
  expect(first.plan.nonce).not.toBe(second.plan.nonce);
});

test('without {{content}} the document is appended to the last section', async () => {
  const template = await compile(docx(`${p('{{title}}')}${p('Signed')}<w:sectPr/>`));
  const { 'word/document.xml': xml = '' } = await renderParts(
    createDocument([createNode('First')]),
    template,
  );
  expect(getText(xml)).toBe('Pay\nSigned\nFirst');
  expect(xml).toMatch(/First.*<w:sectPr\/>/);
  expect(template.warnings).toEqual([expect.stringContaining('has no {{content}}')]);
});

test('without placeholders the text is replaced and inherited headers stay', async () => {
  const reference = '<w:headerReference w:type="default" r:id="rIdH"/>';
  const inner = `${p('Old', `<w:sectPr>${reference}</w:sectPr>`)}${p('text')}<w:sectPr><w:pgSz w:w="9000" w:h="9000"/></w:sectPr>`;
  const template = await compile(docx(inner, header(p('Top'))));
  const { 'word/document.xml': xml = '' } = await renderParts(
    createDocument([createNode('First')]),
    template,
  );
  expect(getText(xml)).toBe('Pay\nFirst');
  expect(xml).toContain(`<w:sectPr>${reference}<w:pgSz`);
});

function header(inner: string) {
  return {
    '[Content_Types].xml': types({ '/word/header1.xml': `${WORD_TYPE}.header+xml` }),
    'word/header1.xml': `<w:hdr xmlns:w="${W}" xmlns:r="${R}">${inner}</w:hdr>`,
    'word/_rels/document.xml.rels': rels(['rIdH', 'header', 'header1.xml']),
  };
}

function theme(xml: string) {
  return { 'word/theme.xml': xml, 'word/_rels/document.xml.rels': rels(['rIdT', 'theme', 'theme.xml']) };
}
