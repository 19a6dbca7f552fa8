/** Tests the watermark: drafts and versions that are not in force have it, in every file that has a place for it. */
import { expect, test } from '@jest/globals';
import { createXmlBudget, parseXml } from '#libs/opc';
import {
  body,
  compile,
  createDocument,
  createRecord,
  docx,
  getText,
  p,
  renderParts,
} from '../../../../tests/word/samples.ts';
import type { DocumentRecord } from '../document.ts';

const inner = p('a {{watermark}} b') + p('{{content}}');
const render = async (record: Partial<DocumentRecord>, file = docx(inner)) => {
  const document = createDocument([], { record: createRecord(record) });
  return (await renderParts(document, await compile(file)))['word/document.xml'] ?? '';
};

test.each<[Partial<DocumentRecord>, string]>([
  [{ status: 'draft' }, 'DRAFT'],
  [{ status: 'archived' }, 'ARCHIVED'],
  [{ status: 'superseded', superseded_by: '2 & "3"' }, 'SUPERSEDED BY 2 &amp; &quot;3&quot;'],
  [{ status: 'superseded', superseded_by: 'a label of 20 letters' }, 'SUPERSEDED'],
  [{ status: 'superseded' }, 'SUPERSEDED'],
])('the watermark of %j is %j', async (record, expected) => {
  const xml = await render(record);
  expect(xml).toContain(`string="${expected}"`);
  expect(getText(xml)).toBe('a  b');
});

test('a published version has no watermark', async () => {
  const xml = await render({});
  expect(xml).not.toContain('<w:pict');
  expect(getText(xml)).toBe('a  b');
});

test('a template with another prefix gets well-formed markup', async () => {
  const main = body(inner).replaceAll('w:', 'ns0:').replace('xmlns:w=', 'xmlns:ns0=');
  const xml = await render({ status: 'draft' }, docx('', { 'word/document.xml': main }));
  expect(xml).toContain('string="DRAFT"');
  expect(() => parseXml(Buffer.from(xml), 'document.xml', createXmlBudget())).not.toThrow();
});
