/** Tests lists: they look like the template's lists, and each ordered list has its own numbers. */
import { expect, test } from '@jest/globals';
import {
  compile,
  createDocument,
  createNode,
  createParagraph,
  docx,
  p,
  rels,
  renderParts,
  types,
  W,
  WORD_TYPE,
} from '../../../../tests/word/samples.ts';

const item = (...content: object[]) => ({ type: 'listItem', content: content as never });
const list = (type: string, ...items: object[]) => ({ type, content: items as never });
const level = (at: number, text: string, left: number) =>
  `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${text.includes('%') ? 'decimal' : 'bullet'}"/><w:pStyle w:val="X"/><w:lvlText w:val="${text}"/><w:pPr><w:ind w:left="${left}" w:hanging="200"/></w:pPr></w:lvl>`;

function withLists(
  abstract: string,
  styles: string,
  nums = '<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num>',
) {
  return docx(p('{{content}}'), {
    '[Content_Types].xml': types({
      '/word/styles.xml': `${WORD_TYPE}.styles+xml`,
      '/word/numbering.xml': `${WORD_TYPE}.numbering+xml`,
    }),
    'word/_rels/document.xml.rels': rels(
      ['rId1', 'styles', 'styles.xml'],
      ['rId2', 'numbering', 'numbering.xml'],
    ),
    'word/styles.xml': `<w:styles xmlns:w="${W}">${styles}</w:styles>`,
    'word/numbering.xml': `<w:numbering xmlns:w="${W}">${abstract}${nums}<w:numIdMacAtCleanup w:val="1"/></w:numbering>`,
  });
}
const style = (id: string, name: string, properties: string) =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/><w:pPr>${properties}</w:pPr></w:style>`;
const numbered = (numId: number, more = '') => `<w:numPr><w:numId w:val="${numId}"/></w:numPr>${more}`;
const deep = createNode('N', [
  list('bulletList', item(createParagraph('a'), list('bulletList', item(createParagraph('b'))))),
]);

test("lists use the template's bullets and indents on every level", async () => {
  const abstract = `<w:abstractNum w:abstractNumId="3"><w:multiLevelType w:val="multilevel"/>${level(0, '■', 400)}${level(1, '–', 900)}</w:abstractNum>`;
  const template = await compile(withLists(abstract, style('Aufz', 'List Bullet', numbered(7))));
  const { 'word/document.xml': xml, 'word/numbering.xml': numbering } = await renderParts(
    createDocument([deep]),
    template,
  );
  expect(xml).toContain(
    '<w:pStyle w:val="Aufz"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="8"/></w:numPr><w:ind w:left="400" w:hanging="200"/>',
  );
  expect(xml).toContain(
    '<w:ilvl w:val="1"/><w:numId w:val="8"/></w:numPr><w:ind w:left="900" w:hanging="200"/>',
  );
  expect(numbering?.match(/■/g)).toHaveLength(2);
  expect(numbering).toContain('<w:num w:numId="8"><w:abstractNumId w:val="4"/></w:num><w:numIdMacAtCleanup');
  expect(numbering?.match(/w:pStyle/g)).toHaveLength(2);
});

test('a list style with its own indent keeps it', async () => {
  const abstract = `<w:abstractNum w:abstractNumId="3">${level(0, '■', 400)}</w:abstractNum>`;
  const template = await compile(
    withLists(abstract, style('A', 'list bullet', numbered(7, '<w:ind w:left="555" w:hanging="111"/>'))),
  );
  expect(template.plan.lists.bullets[0]).toEqual({ left: 555, hanging: 111 });
});

test('a single-level list continues with List Bullet 2, then indents', async () => {
  const single = '<w:multiLevelType w:val="singleLevel"/>';
  const abstract =
    `<w:abstractNum w:abstractNumId="3">${single}${level(0, '■', 400)}${level(1, '○', 50)}</w:abstractNum>` +
    `<w:abstractNum w:abstractNumId="5">${single}${level(0, '◆', 800)}</w:abstractNum>`;
  const nums =
    '<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num><w:num w:numId="9"><w:abstractNumId w:val="5"/></w:num>';
  const styles = style('A', 'List Bullet', numbered(7)) + style('B', 'List Bullet 2', numbered(9));
  const { plan } = await compile(withLists(abstract, styles, nums));
  expect(plan.lists.bullets.map(({ left }) => left).slice(0, 4)).toEqual([400, 800, 1_160, 1_520]);
});

test('a number format on a deeper level counts that level', async () => {
  const abstract = `<w:abstractNum w:abstractNumId="3"><w:multiLevelType w:val="singleLevel"/>${level(0, '%1)', 400)}</w:abstractNum>`;
  const template = await compile(withLists(abstract, style('A', 'List Number', numbered(7))));
  const { 'word/numbering.xml': numbering } = await renderParts(createDocument(), template);
  for (const text of ['%1)', '%2)', '%9)']) expect(numbering).toContain(`w:val="${text}"`);
});

test.each([
  ['one below', [0, 1, 2, 3, 4], ['%1', '%1.%2', '%2.%3']],
  ['none below', [0, 1, 2, 3], ['%1', '%1.%2', '%1.%2.%3']],
])('a number format on level 4 of an outline counts from 1 (%s)', async (_what, depths, texts) => {
  const toText = (at: number) => (at === 4 ? '%4.%5' : '%1.%2.%3.%4'.slice(0, 3 * at + 2));
  const levels = depths.map((at) => level(at, toText(at), 400)).join('');
  const abstract = `<w:abstractNum w:abstractNumId="3"><w:multiLevelType w:val="multilevel"/>${levels}</w:abstractNum>`;
  const bound = '<w:numPr><w:ilvl w:val="3"/><w:numId w:val="7"/></w:numPr>';
  const template = await compile(withLists(abstract, style('A', 'List Number', bound)));
  const { 'word/numbering.xml': numbering = '' } = await renderParts(createDocument(), template);
  const [, pattern = ''] = numbering.split('5D0B17E2');
  const found = [...pattern.matchAll(/<w:lvlText w:val="([^"]*)"/g)].map(([, text]) => text);
  expect(found.slice(0, 3)).toEqual(texts);
});

test('a numbered level is not used for a bullet list', async () => {
  const abstract = `<w:abstractNum w:abstractNumId="3">${level(0, '■', 400)}${level(1, '%2.', 900)}</w:abstractNum>`;
  const template = await compile(withLists(abstract, style('A', 'List Bullet', numbered(7))));
  expect(template.plan.lists.bullets[1]).toEqual({ left: 760, hanging: 200 });
});

test('a checkbox has a minimum width before its text', async () => {
  const abstract = `<w:abstractNum w:abstractNumId="3">${level(0, '■', 400)}</w:abstractNum>`;
  const template = await compile(withLists(abstract, style('A', 'List Bullet', numbered(7))));
  const tasks = list('taskList', { type: 'taskItem', content: [createParagraph('t')] });
  const { 'word/document.xml': xml } = await renderParts(
    createDocument([createNode('N', [tasks])]),
    template,
  );
  expect(xml).toContain('<w:ind w:left="400" w:hanging="360"/>');
});

test('a list that links to a list style uses its levels', async () => {
  const abstract =
    '<w:abstractNum w:abstractNumId="3"><w:numStyleLink w:val="L"/></w:abstractNum>' +
    `<w:abstractNum w:abstractNumId="5"><w:styleLink w:val="L"/>${level(0, '◆', 333)}</w:abstractNum>`;
  const nums =
    '<w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num><w:num w:numId="9"><w:abstractNumId w:val="5"/></w:num>';
  const styles = style('A', 'List Bullet', numbered(7)) + style('L', 'Our list', numbered(9));
  expect((await compile(withLists(abstract, styles, nums))).plan.lists.bullets[0]?.left).toBe(333);
});

test('each ordered list has its own start, twelve levels stay within nine', async () => {
  let inner: object = list('orderedList', item(createParagraph('deepest')));
  for (let at = 0; at < 11; at += 1) inner = list('orderedList', item(createParagraph(`${at}`), inner));
  const second = { ...list('orderedList', item(createParagraph('x'))), attrs: { start: 4 } };
  const template = await compile(docx(p('{{content}}')));
  const { 'word/document.xml': xml, 'word/numbering.xml': numbering } = await renderParts(
    createDocument([createNode('N', [inner as never, second])]),
    template,
  );
  const levels = [...(xml?.matchAll(/w:ilvl w:val="(\d+)"/g) ?? [])].map(([, at]) => Number(at));
  expect(levels).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 0]);
  const ids = [...(xml?.matchAll(/<w:numId w:val="(\d+)"/g) ?? [])].map(([, id]) => id);
  expect(new Set(ids).size).toBe(13);
  for (const id of ids) expect(numbering).toContain(`<w:num w:numId="${id}">`);
  expect(numbering).toContain('<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/>');
});

test('a list in a list on the same level has another pattern', async () => {
  const text = (words: string, ...more: object[]) => item(createParagraph(words), ...more);
  const callout = (...content: object[]) => ({ type: 'callout', attrs: { kind: 'note' }, content });
  const cell = (...content: object[]) =>
    list('table', { type: 'tableRow', content: [{ type: 'tableCell', content }] });
  const ordered = (...items: object[]) => list('orderedList', ...items);
  const bullet = list('bulletList', text('e', ordered(text('f'))));
  const outer = ordered(
    text('a', callout(ordered(text('b', cell(ordered(text('c'))), ordered(text('d')))), bullet)),
    text('g', ordered(text('h')), cell(ordered(text('i')))),
    text('j'),
  );
  const { 'word/document.xml': xml = '', 'word/numbering.xml': numbering = '' } = await renderParts(
    createDocument([createNode('N', [outer as never, ordered(text('k')) as never])]),
    await compile(docx(p('{{content}}'))),
  );
  const patterns = new Map(
    [...numbering.matchAll(/<w:num w:numId="(\d+)"><w:abstractNumId w:val="(\d+)"/g)].map(
      ([, id, pattern]) => [id, Number(pattern)],
    ),
  );
  const found = [...xml.matchAll(/<w:numId w:val="(\d+)"\/>.*?<w:t [^>]*>(\w)</g)];
  const letters = new Map(found.map(([, id, letter]) => [letter, (patterns.get(id) ?? 0) - 2]));
  expect(Object.fromEntries(letters)).toEqual({
    ...{ a: 0, g: 0, j: 0, k: 0, h: 0, f: 0 },
    ...{ b: 1, d: 1, i: 1, c: 2, e: -1 },
  });
  const definitions = [...numbering.matchAll(/<w:abstractNum w:abstractNumId="(\d)"><w:nsid w:val="(\w+)"/g)];
  expect(definitions.map(([, ...values]) => values.join(' '))).toEqual([
    ...['1 5D0B17E1', '2 5D0B17E2', '3 5D0B17E3', '4 5D0B17E4'],
  ]);
  expect(numbering).not.toMatch(/<w:num .*<w:abstractNum /);
});
