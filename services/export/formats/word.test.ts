/** Tests whole Word files: a realistic procedure in realistic templates, without broken references. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { compile, createDocument, docx, getText, p, renderParts } from '../../../tests/word/samples.ts';
import { createDefaultTemplate } from './default-template.ts';
import type { ExportNode, WordDocument } from './document.ts';
import { renderWord } from './word.ts';

const fixtures = new URL('../../../tests/fixtures/', import.meta.url);

/** Loads the procedure from the fixtures as an export document. */
async function loadProcedure(): Promise<WordDocument> {
  const { nodes, ...properties } = JSON.parse(
    await readFile(new URL('incident-response-sop.json', fixtures), 'utf8'),
  );
  const toExportNode = (node: ExportNode): ExportNode => ({
    ...node,
    id: node.title,
    content: node.content ?? null,
    children: (node.children ?? []).map(toExportNode),
  });
  return createDocument(nodes.map(toExportNode), properties);
}

const compileCorporate = async () => compile(await readFile(new URL('corporate-template.docx', fixtures)));

test.each([
  ['the corporate template', compileCorporate],
  ['the built-in template', createDefaultTemplate],
  ['the smallest template', () => compile(docx(p('{{content}}')))],
])('with %s, all styles, lists, links and pictures resolve', async (_which, template) => {
  const found = await renderParts(await loadProcedure(), await template());
  const xml = found['word/document.xml'] ?? '';
  const all = (pattern: RegExp, text = xml) => new Set([...text.matchAll(pattern)].map(([, id]) => id));
  const styles = all(/w:styleId="([^"]+)"/g, found['word/styles.xml']);
  for (const id of all(/<w:(?:p|r|tbl)Style w:val="([^"]+)"/g)) expect(styles).toContain(id);
  const lists = all(/<w:num w:numId="(\d+)"/g, found['word/numbering.xml']);
  for (const id of all(/<w:numId w:val="([1-9]\d*)"/g)) expect(lists).toContain(id);
  const patterns = all(/<w:abstractNum w:abstractNumId="(\d+)"/g, found['word/numbering.xml']);
  for (const id of all(/<w:abstractNumId w:val="(\d+)"/g, found['word/numbering.xml']))
    expect(patterns).toContain(id);
  const links = all(/Id="([^"]+)"/g, found['word/_rels/document.xml.rels']);
  for (const id of all(/ r:(?:id|embed)="([^"]+)"/g)) expect(links).toContain(id);
  expect(xml.match(/<\/w:tc>/g)?.length).toBe(xml.match(/(<\/w:p>|<w:p\/>)<\/w:tc>/g)?.length);
  for (const target of all(/Target="\/([^"]+)"/g, found['word/_rels/document.xml.rels']))
    expect(found[target ?? '']).toBeDefined();
  for (const text of Object.values(found)) expect(text).not.toContain('{{');
});

test('a Word file has all titles in the order of the tree', async () => {
  const document = await loadProcedure();
  const titles = (nodes: ExportNode[]): string[] =>
    nodes.flatMap(({ title, children }) => [title, ...titles(children)]);
  const expected = titles(document.nodes);
  expect(expected.length).toBeGreaterThanOrEqual(60);
  const lines = getText((await renderParts(document, await compileCorporate()))['word/document.xml']).split(
    '\n',
  );
  let at = 0;
  for (const title of expected) {
    at = lines.indexOf(title, at);
    expect([title, at >= 0]).toEqual([title, true]);
  }
});

test('the cover, header and footer of the corporate template are filled', async () => {
  const found = await renderParts(await loadProcedure(), await compileCorporate());
  const cover = getText(found['word/document.xml']).slice(0, 400);
  for (const text of [
    'Payment system incident response',
    '4.2',
    'Payments Operations',
    '2026-11-21',
    'Aldermoor',
  ])
    expect(cover).toContain(text);
  expect(getText(found['word/header1.xml'])).toBe('Payment system incident response');
  expect(getText(found['word/footer1.xml'])).toBe('Aldermoor · Version 4.2Page 1 of 1');
  expect(Object.keys(found)).toContain('word/media/logo.png');
});

test('the same document and template result in the same bytes', async () => {
  const [document, template] = [await loadProcedure(), await compileCorporate()];
  const first = await renderWord(document, template, { indentInches: 0.5 });
  expect(Buffer.from(first).equals(await renderWord(document, template, { indentInches: 0.5 }))).toBe(true);
});

test('the built-in template is reproducible and has every placeholder', async () => {
  const [first, second] = [await createDefaultTemplate(), await createDefaultTemplate()];
  expect(first.sha256).toBe(second.sha256);
  expect(first.placeholders).toEqual([
    ...['title', 'version', 'version_label', 'department', 'published_at', 'organization', 'content'],
    ...['status', 'watermark'],
  ]);
  expect(first.warnings).toEqual([]);
});

test('an exported Word file can be used as a template', async () => {
  const picture = (await loadProcedure()).nodes;
  const once = await renderWord(createDocument(picture), await compile(docx(p('a'))), { indentInches: 0.5 });
  const found = await renderParts(createDocument(picture), await compile(Buffer.concat([once])));
  expect(getText(found['word/document.xml'])).toContain('Purpose and scope');
});

test('a document without nodes renders an empty paragraph', async () => {
  const { 'word/document.xml': xml } = await renderParts(
    createDocument([]),
    await compile(docx(p('{{content}}'))),
  );
  expect(xml).toContain('<w:body><w:p/></w:body>');
});
