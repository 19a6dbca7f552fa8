/** Tests of printed public pages: what identifies each page, and where pages break. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RichText } from '#libs/rich-text';
import { type PdfPage, readPdf } from '#libs/testing';
import { doc, link, node, p, text } from '../../tests/fixtures/generators/rich-text.ts';
import { fillingProcedure } from './testing/filling-procedure.ts';
import { type PageFixture, pageFixture } from './testing/page-fixture.ts';

let fixture: PageFixture;
/** The pages of the procedure by paper size. */
let printed: Map<string, PdfPage[]>;

beforeAll(async () => {
  fixture = await pageFixture();
  const address = await fixture.share(fillingProcedure);
  printed = new Map();
  for (const format of ['A4', 'Letter']) printed.set(format, await print(address, format));
}, 180_000);
afterAll(() => fixture?.stop());

function print(address: string, format = 'A4'): Promise<PdfPage[]> {
  return fixture.withPage({}, async (page) => {
    await page.goto(address);
    return readPdf(await page.pdf({ format }));
  });
}

const joinWords = (text: string) => text.replaceAll(/\s+/g, ' ');
/** The lines between the head and the foot of a page. */
const getBody = ({ text }: PdfPage) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(2, -1);

describe.each(['A4', 'Letter'])('a public page printed on %s', (format) => {
  const getPages = () => printed.get(format) ?? [];

  test('has title, version, status and “Page x of y” on every page', () => {
    const pages = getPages();
    expect(pages.length).toBeGreaterThan(5);
    for (const [at, { text }] of pages.entries()) {
      const words = joinWords(text);
      for (const part of [fillingProcedure.title, 'Version 4.2', 'Published '])
        expect(words.slice(0, 300)).toContain(part);
      expect(words.slice(-100)).toContain(`Page ${at + 1} of ${pages.length}`);
    }
  });

  test('has every picture on one page, also one that is taller than the paper', () => {
    const pictures = getPages().flatMap((page) => page.pictures);
    expect(pictures).toHaveLength(2);
    expect(new Set(pictures).size).toBe(2);
  });

  test('breaks no word in a cell and repeats the heads of a table', () => {
    const text = getPages()
      .map((page) => page.text)
      .join('\n');
    for (const word of ['Polytetrafluorethylen', 'requalification', 'Differential', 'continuous', '± 0.10'])
      expect(text).toContain(word);
    const pages = getPages().filter((page) => page.text.includes('In-process control '));
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages) expect(page.text).toMatch(/Check +Time +Result +Initials/);
  });

  test('prints all entries of the contents', () => {
    const words = joinWords(getPages()[0]?.text ?? '');
    for (const entry of ['Contents', '4.3 Line clearance', '8 Annexes']) expect(words).toContain(entry);
  });
});

test('no heading ends a printed page, and no row of a table is split', async () => {
  const text = (value: string) => ({ type: 'paragraph', content: [{ type: 'text', text: value }] });
  const cell = (at: number, times: number) => ({
    type: 'tableCell',
    content: [text(`begin${at}`), ...Array.from({ length: times }, () => text('line')), text(`end${at}`)],
  });
  const table = {
    type: 'table',
    content: Array.from({ length: 30 }, (_, at) => ({ type: 'tableRow', content: [cell(at, at % 7)] })),
  };
  const nodes = Array.from({ length: 60 }, (_, at) => ({
    node_type: 'section',
    title: `Heading ${at}`,
    content: { type: 'doc', content: Array.from({ length: 1 + (at % 5) }, () => text('Some words.')) },
    children: [{ node_type: 'step', title: `Heading below ${at}` }],
  }));
  const last = { node_type: 'section', title: 'Rows', content: { type: 'doc', content: [table] } };
  const pages = (
    await print(await fixture.share({ title: 'Breaks', version: '1', nodes: [...nodes, last] }))
  ).map(getBody);
  const afterContents = pages.filter((lines) => lines.some((line) => line === 'Some words.'));
  expect(afterContents.length).toBeGreaterThan(5);
  for (const lines of afterContents) expect(lines.at(-1)).not.toMatch(/^\d+ +Heading \d+$/);
  for (let at = 0; at < 30; at += 1)
    expect(pages.filter((lines) => lines.includes(`begin${at}`) && lines.includes(`end${at}`))).toHaveLength(
      1,
    );
});

test.each(['en', 'ar'])('no number of a list is cut on paper, in language %s', async (language) => {
  const item = node('listItem', p('item'));
  const list = (start: number, count: number, type = '1') => ({
    ...node('orderedList', ...Array.from({ length: count }, () => item)),
    attrs: { start, type },
  });
  const lists = [list(98, 3), list(32_766, 2), list(1, 38, 'i'), list(38, 1, 'I'), list(703, 1, 'A')];
  const nodes = [{ node_type: 'section', title: 'Lists', content: doc(...lists) }];
  const pages = await print(await fixture.share({ title: 'Numbers', version: '1', language, nodes }));
  const words = pages
    .flatMap(getBody)
    .join('\n')
    .split(/[\s.]+/);
  const numbers = ['98', '99', '100', '32766', '32767', 'viii', 'xviii', 'xxxviii', 'XXXVIII', 'AAA'];
  expect(words).toEqual(expect.arrayContaining(numbers));
});

test.each(['en', 'ar'])('no column of a table is lost on paper, in language %s', async (language) => {
  const hash = '0123456789abcdef'.repeat(8);
  const href = `https://example.com/${hash.repeat(2)}`;
  const wide = [
    p(hash),
    p(text(hash, 'code')),
    p(text(href, link(href))),
    p(text('Manual', link(href))),
    node('codeBlock', 'y'.repeat(150)),
  ];
  const row = (...cells: RichText[]) =>
    node('tableRow', ...cells.map((content) => node('tableCell', content)));
  const many = (columns: number) =>
    node('table', row(...Array.from({ length: columns }, (_, at) => p(`value${at}of${columns}`))));
  const tables = [
    ...wide.map((content, at) => node('table', row(p('requalification'), content, p(`LAST${at}`)))),
    ...[14, 25, 40].map(many),
  ];
  const nodes = [{ node_type: 'section', title: 'Tables', content: doc(...tables) }];
  const pages = await print(await fixture.share({ title: 'Wide', version: '1', language, nodes }));
  const lines = pages.flatMap(getBody);
  const words = lines.join('\n').split(/\s+/);
  expect(words.filter((word) => word === 'requalification')).toHaveLength(wide.length);
  for (const at of wide.keys()) expect(words).toContain(`LAST${at}`);
  expect(words.filter((word) => /^y+$/.test(word)).join('')).toHaveLength(150);
  // each line of a row has a part of every cell
  for (const columns of [14, 25, 40])
    expect(lines.map((line) => line.split(/\s+/).length)).toContain(columns);
});

test('a hostile title is printed as it is, on every page', async () => {
  const title = 'A "quoted" \\ back;slash} </style><b>*/ @page é 日本';
  const pages = await print(await fixture.share({ title, version: '"}1', nodes: [] }));
  for (const { text } of pages) {
    const head = joinWords(text).slice(0, 200);
    expect(head).toContain('A "quoted" \\ back;slash} </style><b>*/ @page é');
    expect(head).toContain('Version "}1');
  }
});

test('a long word in the title leaves the version its place on paper', async () => {
  const [title, version] = ['A'.repeat(82), '12.4 (final, approved by the board)'];
  for (const [language, pattern] of [
    ['en', /^ *A{20,60} +Version 12\.4 \(final, approved by the board\)$/m],
    ['ar', /^ *Version 12\.4 \(final, approved by the board\) +A{20,60}$/m],
  ] as const) {
    const [page] = await print(await fixture.share({ title, version, language, nodes: [] }));
    expect(page?.text.replaceAll(/[\u2066-\u2069\u202a-\u202e\u200e\u200f]/g, '')).toMatch(pattern);
  }
});
