/** Tests the printed pages of the built-in template: identification, contents, tables, pictures and callouts. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { printedText } from '#libs/testing';
import { createDefaultTemplate } from '../../../services/export/formats/default-template.ts';
import type { ExportNode, WordDocument } from '../../../services/export/formats/document.ts';
import { renderWord } from '../../../services/export/formats/word.ts';
import { encodePng } from '../../fixtures/generators/png.ts';
import { createDocument, createNode, createParagraph, createRecord } from '../samples.ts';

const sentence =
  'The operator reads the gauge and writes the value into the log before the guard is opened. ';
const cell = (type: string, text: string): RichText => ({ type, content: [createParagraph(text)] });
const row = (type: string, ...texts: string[]): RichText => ({
  type: 'tableRow',
  content: texts.map((text) => cell(type, text)),
});
const table: RichText = {
  type: 'table',
  content: [
    row('tableHeader', 'Partword', 'Checkword'),
    ...Array.from({ length: 60 }, (_, at) =>
      row('tableCell', `N${at}`, `start${at} ${sentence.repeat(3)} end${at}`),
    ),
  ],
};
const tall = encodePng(400, 1_600, () => [11, 79, 74, 255]).toString('base64');
const picture: RichText = {
  type: 'paragraph',
  content: [{ type: 'image', attrs: { src: `data:image/png;base64,${tall}`, title: 'Captionword' } }],
};
const callout = (kind: string, text: string): RichText => ({
  type: 'callout',
  attrs: { kind },
  content: [createParagraph(text)],
});

/** A document of five pages and few sections; every second block is a callout. */
function createManual(): WordDocument {
  const nodes = [
    createNode('Tableword', [table]),
    createNode('Parentword', [], {
      children: [createNode('Pictureword', [picture], { node_type: 'step' })],
    }),
    createNode(
      'Calloutword',
      Array.from({ length: 30 }, (_, at) =>
        at % 2
          ? createParagraph(sentence.repeat(3))
          : callout('danger', `from${at} ${sentence.repeat(8)} to${at}`),
      ),
    ),
  ];
  return createDocument(nodes, { title: 'Manual', record: createRecord({ status: 'draft' }) });
}

async function loadProcedure(): Promise<WordDocument> {
  const url = new URL('../../fixtures/incident-response-sop.json', import.meta.url);
  const { nodes, ...properties } = JSON.parse(await readFile(url, 'utf8'));
  const toExportNode = (node: ExportNode): ExportNode => ({
    ...node,
    id: node.title,
    content: node.content ?? null,
    children: (node.children ?? []).map(toExportNode),
  });
  const record = createRecord({ status: 'superseded', superseded_by: '5.0' });
  return createDocument(nodes.map(toExportNode), { ...properties, record });
}

/** Columns of words that do not fit in letters of the usual size. */
const longWords = Array.from({ length: 8 }, (_, at) => `Requalification${at}`);
const wideTable: RichText = {
  type: 'table',
  content: [
    row('tableHeader', ...longWords),
    row('tableCell', ...longWords.map((word) => word.toLowerCase())),
  ],
};

/** A title that takes many lines of the header, so that less text fits on each page. */
const longTitle = `${'Inspection of the pressure vessels of a line '.repeat(6)}in the north building`;
const createTitled = () =>
  createDocument(
    Array.from({ length: 9 }, (_, at) =>
      createNode(
        `Part${at}`,
        Array.from({ length: 16 }, () => createParagraph(sentence.repeat(12))),
      ),
    ),
    { title: longTitle },
  );

let printed: Map<string, string[]>;
beforeAll(async () => {
  const template = await createDefaultTemplate();
  const files = new Map<string, Uint8Array>();
  const short = createDocument([createNode('Only', [createParagraph('text'), wideTable])]);
  for (const [name, document] of Object.entries({
    procedure: await loadProcedure(),
    manual: createManual(),
    titled: createTitled(),
    short,
  }))
    files.set(name, await renderWord(document, template, { indentInches: 0.5 }));
  const texts = await printedText(files);
  // each page ends with a form feed
  printed = new Map([...texts].map(([name, text]) => [name, text.split('\f').slice(0, -1)]));
}, 300_000);

const getPages = (name: string) => printed.get(name) ?? [];
/** Returns the numbers of the pages with a text, the first is 1. */
const findPages = (name: string, text: string | RegExp) =>
  getPages(name).flatMap((page, at) => (page.match(text) ? [at + 1] : []));
const toPattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('a printed page', () => {
  test('has the title, the version, the status and its number', () => {
    const pages = getPages('procedure');
    expect(pages.length).toBeGreaterThan(5);
    for (const [at, page] of pages.entries()) {
      expect(page).toMatch(/Payment system incident response\s+Version 4\.2\n\s+SUPERSEDED by version 5\.0/);
      expect(page).toContain(`Page ${at + 1} of ${pages.length}`);
    }
  });

  test('has the header of a table that continues on it, and only whole rows', () => {
    const first = findPages('manual', 'N0')[0] ?? 0;
    const last = findPages('manual', 'N59')[0] ?? 0;
    expect(last).toBeGreaterThan(first + 2);
    const expected = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    expect(findPages('manual', 'Checkword')).toEqual(expected);
    for (let at = 0; at < 60; at += 1)
      expect(findPages('manual', new RegExp(`end${at}\\b`))).toEqual(
        findPages('manual', new RegExp(`start${at}\\b`)),
      );
  });

  test('has whole words in a table of many columns', () => {
    const [page = ''] = getPages('short');
    for (const word of longWords) {
      expect(page).toMatch(new RegExp(`\\b${word}\\b`));
      expect(page).toMatch(new RegExp(`\\b${word.toLowerCase()}\\b`));
    }
  });

  test('has a large picture with its headings and its caption', () => {
    // the contents name the titles, too
    const [page] = findPages('manual', 'Captionword');
    expect(findPages('manual', 'Pictureword').at(-1)).toBe(page);
    expect(findPages('manual', 'Parentword').at(-1)).toBe(page);
  });

  test('has whole callouts with their signal word', () => {
    for (let at = 0; at < 30; at += 2)
      expect(findPages('manual', new RegExp(`to${at}\\b`))).toEqual(
        findPages('manual', new RegExp(`from${at}\\b`)),
      );
    for (const page of getPages('manual'))
      expect(page.match(/^\s*DANGER$/gm)?.length ?? 0).toBe(page.match(/from\d+/g)?.length ?? 0);
  });
});

describe('the printed contents', () => {
  const listEntries = (name: string) =>
    getPages(name).flatMap((page) =>
      [...page.matchAll(/^\s*(\d+(?:\.\d+)?)\s+(\S.*?)\s*\.{3,}\s*(\d+)$/gm)].map(
        ([, number, title, at]) => ({
          number: number ?? '',
          title: title ?? '',
          page: Number(at),
        }),
      ),
    );

  test.each(['procedure', 'manual', 'titled'])(
    'of the %s have the numbers and pages of the headings',
    (name) => {
      const entries = listEntries(name);
      expect(entries.length).toBeGreaterThanOrEqual(4);
      for (const { number, title, page } of entries) {
        const heading = new RegExp(`^\\s*${toPattern(number)}\\s+${toPattern(title)}$`, 'm');
        expect({ title, pages: findPages(name, heading) }).toEqual({ title, pages: [page] });
      }
    },
  );

  test('list every section and step', async () => {
    const { nodes } = await loadProcedure();
    const titles = nodes.flatMap(({ title, children }) => [title, ...children.map((child) => child.title)]);
    expect(listEntries('procedure').map(({ title }) => title)).toEqual(titles);
  });

  test('are missing in a short document', () => {
    expect(getPages('short')).toHaveLength(1);
    expect(getPages('short')[0]).not.toContain('Contents');
    expect(getPages('short')[0]).toMatch(/^1\s+Only$/m);
  });
});
