/** Tests placeholders: they are found in all visible text and never in a value. */
import { expect, test } from '@jest/globals';
import {
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
import type { DocumentRecord } from '../document.ts';

const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
const split = `<w:p>${run('{')}${run('{ti')}<w:proofErr w:type="spellStart"/>${run('tle')}${run('}} and ')}${run('{{version}}')}</w:p>`;
const fill = async (inner: string, more = {}, document = createDocument([createNode('First')])) =>
  renderParts(document, await compile(docx(inner, more)));

test('a placeholder that Word has split over runs is replaced', async () => {
  const { 'word/document.xml': xml } = await fill(split);
  expect(getText(xml)).toBe('Pay and 1.2\nFirst');
});

test('each property has a placeholder; null leaves it empty', async () => {
  const all = '[{{title}}|{{version}}|{{department}}|{{published_at}}|{{organization}}]';
  expect(getText((await fill(p(all)))['word/document.xml'])).toBe(
    '[Pay|1.2|Ops|2026-11-21|Aldermoor]\nFirst',
  );
  const bare = createDocument([], { version: null, department: null, published_at: null });
  expect(getText((await fill(p(all), {}, bare))['word/document.xml'])).toBe('[Pay||||Aldermoor]');
});

test('placeholders in headers, notes, cells and text boxes are replaced', async () => {
  const kinds = ['header', 'footer', 'footnotes', 'endnotes'];
  const more: Record<string, string> = {
    '[Content_Types].xml': types(
      Object.fromEntries(kinds.map((kind) => [`/word/${kind}.xml`, `${WORD_TYPE}.${kind}+xml`])),
    ),
    'word/_rels/document.xml.rels': rels(
      ...kinds.map((kind): [string, string, string] => [kind, kind, `${kind}.xml`]),
    ),
  };
  for (const kind of kinds) more[`word/${kind}.xml`] = `<w:x xmlns:w="${W}" xmlns:r="${R}">${split}</w:x>`;
  const box = `<w:p><w:r><w:pict><v:rect xmlns:v="urn:schemas-microsoft-com:vml"><w:txbxContent>${p('Box {{title}}')}</w:txbxContent></v:rect></w:pict></w:r></w:p>`;
  const found = await fill(
    `<w:tbl><w:tr><w:tc>${split}</w:tc></w:tr></w:tbl>${box}${p('{{content}}')}`,
    more,
  );
  for (const kind of kinds) expect(getText(found[`word/${kind}.xml`])).toBe('Pay and 1.2');
  expect(getText(found['word/document.xml'])).toBe('Pay and 1.2\nBox Pay\n\nFirst');
});

test('a content control with a placeholder loses its data binding', async () => {
  const control = `<w:sdt><w:sdtPr><w:showingPlcHdr/><w:dataBinding w:xpath="/a" w:storeItemID="x"/><w:text/></w:sdtPr><w:sdtContent>${run('{{title}}')}</w:sdtContent></w:sdt>`;
  const { 'word/document.xml': xml } = await fill(`<w:p>${control}</w:p>`);
  expect(xml).toContain('<w:sdtPr><w:text/></w:sdtPr>');
  expect(getText(xml)).toBe('Pay\nFirst');
});

test('a title that looks like a placeholder is not replaced', async () => {
  const hostile = createDocument([createNode('{{title}}')], {
    title: '{{content}} {{version}}',
    organization: '{{title}}',
  });
  const { 'word/document.xml': xml } = await fill(
    p('{{title}} of {{organization}}') + p('{{content}}'),
    {},
    hostile,
  );
  expect(getText(xml)).toBe('{{content}} {{version}} of {{title}}\n{{title}}');
});

test('a title that contains a slot with the nonce is not replaced', async () => {
  const template = await compile(docx(p('{{title}}') + p('{{content}}')));
  const title = ['version', 'content'].map((name) => `${template.plan.nonce}:${name};`).join(' ');
  const { 'word/document.xml': xml } = await renderParts(
    createDocument([createNode(title)], { title }),
    template,
  );
  expect(getText(xml)).toBe(`${title}\n${title}`);
});

test('a placeholder with a line break is not replaced', async () => {
  const { 'word/document.xml': xml } = await fill(
    `<w:p>${run('{{ti')}<w:r><w:br/></w:r>${run('tle}}')}</w:p>${p('{{content}}')}`,
  );
  expect(getText(xml)).toBe('{{title}}\nFirst');
});

test('each fact of the record has a placeholder', async () => {
  const all = '{{version_label}}|{{status}}|{{owner}}|{{editor}}|{{document_id}}|{{url}}|{{exported_at}}';
  expect(getText((await fill(p(all)))['word/document.xml'])).toBe(
    'Version 1.2|Published|Ada Lovelace|Bo Chen|01900000-0000-7000-8000-000000000001|https://docs.example.org/embed/aldermoor/token|2026-11-24\nFirst',
  );
  const record = createRecord({ owner: '', editor: '', url: '', exported_at: '' });
  const bare = createDocument([], { version: null, record });
  expect(getText((await fill(p(`[${all}]`), {}, bare))['word/document.xml'])).toMatch(
    /^\[\|Published\|\|\|[-0-9]+\|\|\]$/,
  );
});

test.each<[Partial<DocumentRecord>, string]>([
  [{ status: 'draft' }, 'DRAFT'],
  [{ status: 'archived' }, 'ARCHIVED'],
  [{ status: 'superseded', superseded_by: '2.0' }, 'SUPERSEDED by version 2.0'],
  [{ status: 'superseded' }, 'SUPERSEDED by a later version'],
])('the status of %j is %j', async (more, expected) => {
  const document = createDocument([], { record: createRecord(more) });
  expect(getText((await fill(p('{{status}}'), {}, document))['word/document.xml'])).toBe(expected);
});

const coreProperties = {
  type: 'application/vnd.openxmlformats-package.core-properties+xml',
  relationship: 'http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties',
  uri: 'http://schemas.openxmlformats.org/package/2006/metadata/core-properties',
};
/** The properties of every exported file. */
const ownProperties = {
  ...{ title: 'Pay', creator: 'Ada Lovelace', lastModifiedBy: 'Bo Chen' },
  ...{ created: '2026-10-01T08:00:00.000Z', modified: '2026-11-20T16:45:00.000Z' },
};
const readProperties = (xml = '') =>
  Object.fromEntries([...xml.matchAll(/<\w+:(\w+)[^>]*>([^<]+)</g)].map(([, name, text]) => [name, text]));

test('the properties of the file are those of the document', async () => {
  const { type, relationship, uri } = coreProperties;
  const found = await fill(p('{{content}}'), {
    '[Content_Types].xml': types({ '/core.xml': type }),
    '_rels/.rels': rels(['rId1', 'officeDocument', 'word/document.xml'], ['rId2', relationship, 'core.xml']),
    'core.xml':
      `<c:p xmlns:c="${uri}" xmlns:d="http://purl.org/dc/elements/1.1/"><d:title>Old</d:title><d:creator>Old</d:creator><d:subject>Stays</d:subject>` +
      '<c:lastModifiedBy>Old</c:lastModifiedBy><t:created xmlns:t="http://purl.org/dc/terms/">Old</t:created></c:p>',
  });
  expect(readProperties(found['core.xml'])).toEqual({ ...ownProperties, subject: 'Stays' });
});

test('the file has properties if the template has none', async () => {
  const found = await fill(p('{{content}}'));
  expect(readProperties(found['docProps/core.xml'])).toEqual(ownProperties);
  const { type, relationship } = coreProperties;
  expect(found['_rels/.rels']).toContain(`Type="${relationship}" Target="docProps/core.xml"`);
  expect(found['[Content_Types].xml']).toContain(`PartName="/docProps/core.xml" ContentType="${type}"`);
});
