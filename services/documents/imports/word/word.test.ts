/** Tests what parts of Word files become, with files that the tests write. */
import { expect, test } from '@jest/globals';
import { encodePng } from '../../../../tests/fixtures/generators/png.ts';
import { toImportOutline } from '../../../../tests/imports/outline.ts';
import { docx, p, rels, parts as toParts, types, W, WORD_TYPE, zip } from '../../../../tests/word/samples.ts';
import { convertFile } from '../conversion.ts';

const style = (id: string, name: string, more = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
const head = (text: string, id = 'h1') => p(text, `<w:pStyle w:val="${id}"/>`);
const item = (text: string, level = 0, num = 1) =>
  p(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${num}"/></w:numPr>`);
const run = (text: string, properties = '') =>
  `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
const note = '<w:r><w:footnoteReference w:id="5"/></w:r>';
const cell = (text: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${p(text)}</w:tc>`;
const restart = '<w:vMerge w:val="restart"/>';
const table = (...rows: string[]) =>
  `<w:tbl>${rows.map((row) => (row.startsWith('<w:tr>') ? row : `<w:tr>${row}</w:tr>`)).join('')}</w:tbl>`;
const later = (cells: string, columns = 1) =>
  `<w:tr><w:trPr><w:gridBefore w:val="${columns}"/></w:trPr>${cells}</w:tr>`;
/** The line of a table; its cells are like `text{"colspan":2}` and have ` | ` between them. */
const tableLine = (...rows: string[]) =>
  `table[${rows
    .map((row) => row.split(' | ').map((each) => each.replace(/^([^{]*)(.*)$/, 'tableCell$2[paragraph[$1]]')))
    .map((cells) => `tableRow[${cells.join(' ')}]`)
    .join(' ')}]`;
const box = (content: string) =>
  `<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox><w:txbxContent>${content}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>`;
const createCheckbox = (checked: 0 | 1) =>
  `<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:checked w14:val="${checked}"/></w14:checkbox></w:sdtPr></w:sdt>`;
const task = (checked: 0 | 1, text: string, left = 0) =>
  `<w:p><w:pPr><w:ind w:left="${left}"/></w:pPr>${createCheckbox(checked)}<w:r><w:tab/></w:r>${run(text)}</w:p>`;
const beginField = (code: string) =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`;
const endField = '<w:r><w:fldChar w:fldCharType="end"/></w:r>';
const field = (code: string, shown: string) => beginField(code) + run(shown) + endField;
const contentsLine = (content: string) => `<w:p><w:pPr><w:pStyle w:val="toc1"/></w:pPr>${content}</w:p>`;

const styles = [
  style('h1', 'heading 1'),
  style('h2', 'heading 2'),
  style('titre', 'Title'),
  style('loopA', 'A', '<w:basedOn w:val="loopB"/>'),
  style('loopB', 'B', '<w:basedOn w:val="loopA"/>'),
  style('toc1', 'toc 1'),
  style('quote', 'Quote'),
  style('code', 'Source Code'),
  '<w:style w:type="character" w:styleId="strong"><w:name w:val="Strong"/><w:rPr><w:b/></w:rPr></w:style>',
  '<w:style w:type="character" w:styleId="struck"><w:name w:val="Struck"/><w:rPr><w:dstrike/></w:rPr></w:style>',
].join('');
const levels = (format: string) =>
  [0, 1]
    .map((at) => `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/></w:lvl>`)
    .join('');
const override = (level: number, content: string) =>
  `<w:lvlOverride w:ilvl="${level}">${content}</w:lvlOverride>`;
const startAt = (level: number, start: number) => override(level, `<w:startOverride w:val="${start}"/>`);
const letters = '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/></w:lvl>';
const overridden = `<w:num w:numId="5"><w:abstractNumId w:val="2"/>${override(0, letters)}</w:num><w:num w:numId="6"><w:abstractNumId w:val="1"/>${startAt(1, 5)}</w:num><w:num w:numId="7"><w:abstractNumId w:val="1"/>${startAt(0, 4)}${startAt(1, 9)}</w:num>`;
const numbering = `<w:abstractNum w:abstractNumId="1">${levels('decimal')}</w:abstractNum><w:abstractNum w:abstractNumId="2">${levels('bullet')}</w:abstractNum><w:abstractNum w:abstractNumId="3"><w:numStyleLink w:val="x"/></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="3"/></w:num>${overridden}`;

function createParts(
  body: string,
  more: Record<string, string> = {},
  links: [string, string, string, string?][] = [],
) {
  return toParts(body, {
    '[Content_Types].xml': types({
      '/word/styles.xml': `${WORD_TYPE}.styles+xml`,
      '/word/numbering.xml': `${WORD_TYPE}.numbering+xml`,
      '/word/footnotes.xml': `${WORD_TYPE}.footnotes+xml`,
    }),
    'word/_rels/document.xml.rels': rels(
      ['s', 'styles', 'styles.xml'],
      ['n', 'numbering', 'numbering.xml'],
      ['f', 'footnotes', 'footnotes.xml'],
      ...links,
    ),
    'word/styles.xml': `<w:styles xmlns:w="${W}">${styles}</w:styles>`,
    'word/numbering.xml': `<w:numbering xmlns:w="${W}">${numbering}</w:numbering>`,
    'word/footnotes.xml': `<w:footnotes xmlns:w="${W}"><w:footnote w:id="4">${p('Another note.')}</w:footnote><w:footnote w:id="5">${p('A note.')}</w:footnote></w:footnotes>`,
    ...more,
  });
}

async function convert(bytes: Uint8Array, acceptChanges = false): Promise<string[]> {
  return toImportOutline(await convertFile({ name: 'sop.docx', bytes, acceptChanges })).split('\n');
}

const convertBody = (body: string, acceptChanges = false) => convert(zip(createParts(body)), acceptChanges);

/** The lines of a text without headings, without those of the report. */
async function convertText(body: string, acceptChanges = false): Promise<string[]> {
  const lines = await convertBody(head('Top', 'titre') + head('One') + body, acceptChanges);
  return lines.filter((line) => line.includes('| ')).map((line) => line.replace(/^.*?\| /, ''));
}

test.each<[string, string, string[]]>([
  [
    'formats of runs',
    `<w:p>${run('a', '<w:b/><w:i/>')}${run('b', '<w:b w:val="0"/>')}</w:p>`,
    ['paragraph[italic(bold(a)) b]'],
  ],
  ['a bold character style', `<w:p>${run('a', '<w:rStyle w:val="strong"/>')}</w:p>`, ['paragraph[bold(a)]']],
  [
    'formats that are switched off',
    `<w:p>${run('a', '<w:strike w:val="false"/><w:dstrike w:val="0"/>')}${run('b', '<w:i w:val="off"/><w:u w:val="none"/><w:vanish w:val="0"/>')}</w:p>`,
    ['paragraph[ab]'],
  ],
  [
    'text struck once or twice',
    `<w:p>${run('a', '<w:strike/><w:dstrike w:val="0"/>')}${run('b', '<w:strike w:val="0"/><w:dstrike w:val="1"/>')}</w:p>`,
    ['paragraph[strike(ab)]'],
  ],
  [
    'text that switches off what its style strikes',
    `<w:p>${run('a', '<w:rStyle w:val="struck"/>')}${run('b', '<w:rStyle w:val="struck"/><w:dstrike w:val="0"/>')}</w:p>`,
    ['paragraph[strike(a) b]'],
  ],
  [
    'a header row that is switched off',
    `<w:tbl><w:tr><w:trPr><w:tblHeader w:val="0"/></w:trPr>${cell('a')}</w:tr></w:tbl>`,
    ['table[tableRow[tableCell[paragraph[a]]]]'],
  ],
  ['hidden text', `<w:p>${run('a')}${run('b', '<w:vanish/>')}</w:p>`, ['paragraph[a]']],
  [
    'a list that continues',
    item('a') + p('x') + item('b') + item('c', 1),
    [
      'orderedList[listItem[paragraph[a]]]',
      'paragraph[x]',
      'orderedList{"start":2}[listItem[paragraph[b] orderedList[listItem[paragraph[c]]]]]',
    ],
  ],
  [
    'a list that starts again',
    item('a') + item('b') + item('c', 0, 3),
    ['orderedList[listItem[paragraph[a]] listItem[paragraph[b]]]', 'orderedList[listItem[paragraph[c]]]'],
  ],
  [
    'bullets after numbers',
    item('a') + item('b', 0, 2),
    ['orderedList[listItem[paragraph[a]]]', 'bulletList[listItem[paragraph[b]]]'],
  ],
  [
    'numbers that replace the bullets of a list',
    item('a', 0, 5) + item('b', 1, 5) + item('c', 0, 5) + item('d', 0, 2),
    [
      'orderedList{"start":3,"type":"a"}[listItem[paragraph[a] bulletList[listItem[paragraph[b]]]] listItem[paragraph[c]]]',
      'bulletList[listItem[paragraph[d]]]',
    ],
  ],
  [
    'a deeper level that starts at another number',
    item('a', 0, 6) + item('b', 1, 6) + item('c', 1, 6) + item('d', 0, 6) + item('e', 1, 6),
    [
      'orderedList[listItem[paragraph[a] orderedList{"start":5}[listItem[paragraph[b]] listItem[paragraph[c]]]] listItem[paragraph[d] orderedList{"start":5}[listItem[paragraph[e]]]]]',
    ],
  ],
  [
    'a list that starts again on a deeper level first',
    item('a') + item('b', 1) + item('c', 1, 7) + item('d', 0, 7),
    [
      'orderedList[listItem[paragraph[a] orderedList[listItem[paragraph[b]]] orderedList{"start":9}[listItem[paragraph[c]]]]]',
      'orderedList{"start":4}[listItem[paragraph[d]]]',
    ],
  ],
  ['a list without a definition', item('a', 0, 9), ['paragraph[a]']],
  [
    'a link in a field',
    `<w:p>${field('HYPERLINK "https://a.example/"', 'a')}</w:p>`,
    ['paragraph[link<https://a.example/>(a)]'],
  ],
  ['an unsafe link in a field', `<w:p>${field('HYPERLINK "javascript:x"', 'a')}</w:p>`, ['paragraph[a]']],
  ['a page number', `<w:p>${run('p. ')}${field(' PAGEREF _Toc1 ', '7')}</w:p>`, ['paragraph[p. 7]']],
  ['a table of contents in a field', `<w:p>${field(' TOC \\o ', 'One 1')}</w:p>${p('a')}`, ['paragraph[a]']],
  ['a paragraph of contents', p('One 1', '<w:pStyle w:val="toc1"/>') + p('a'), ['paragraph[a]']],
  [
    'text after contents that end in their style',
    `<w:p>${beginField(' TOC \\o ')}</w:p>${contentsLine(run('One 1') + endField)}${p('a')}`,
    ['paragraph[a]'],
  ],
  [
    'text after contents that begin in their style',
    `${contentsLine(beginField(' TOC \\o ') + run('One 1'))}${p('Two 2')}<w:p>${endField}${run('a')}</w:p>`,
    ['paragraph[a]'],
  ],
  [
    'text after contents that end in hidden text',
    `<w:p>${beginField(' TOC \\o ')}${run('One 1')}${endField.replace('<w:r>', '<w:r><w:rPr><w:vanish/></w:rPr>')}</w:p>${p('a')}`,
    ['paragraph[a]'],
  ],
  [
    'text after contents that end in their control',
    `<w:p>${beginField(' TOC \\o ')}</w:p><w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent><w:p>${run('One 1')}${endField}</w:p></w:sdtContent></w:sdt>${p('a')}`,
    ['paragraph[a]'],
  ],
  ['styles that refer to each other', p('a', '<w:pStyle w:val="loopA"/>'), ['paragraph[a]']],
  [
    'a text box after its paragraph',
    `<w:p>${run('a')}${box(p('b'))}</w:p>`,
    ['paragraph[a]', 'paragraph[b]'],
  ],
  [
    'a formula as text',
    `<w:p>${run('a ')}<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>`,
    ['paragraph[a x=1]'],
  ],
  [
    'a note at the end of its node',
    `<w:p>${run('a')}${note}</w:p>${p('b')}`,
    ['paragraph[a superscript([1])]', 'paragraph[b]', 'orderedList[listItem[paragraph[A note.]]]'],
  ],
  [
    'notes in the order of their references',
    `<w:p>${run('a')}${box(`<w:p>${note}</w:p>`)}${note}</w:p>`,
    [
      'paragraph[a superscript([1])]',
      'paragraph[superscript([2])]',
      'orderedList[listItem[paragraph[A note.]] listItem[paragraph[A note.]]]',
    ],
  ],
  [
    'the prompt of an empty content control',
    `<w:p>${run('Name: ')}<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>${run('enter it')}</w:sdtContent></w:sdt></w:p>`,
    ['paragraph[Name: enter it]'],
  ],
  [
    'a checkbox',
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr></w:pPr>${createCheckbox(1)}${run(' done')}</w:p>`,
    ['taskList[taskItem{"checked":true}[paragraph[done]]]'],
  ],
  [
    'a checkbox in a numbered list',
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>${createCheckbox(0)}${run(' done')}</w:p>`,
    ['taskList[taskItem{"checked":false}[paragraph[done]]]'],
  ],
  [
    'checkboxes outside of a list, nested by their indent',
    task(1, 'a', 360) + task(0, 'b', 720) + task(1, 'c', 1080) + task(0, 'd', 720) + task(1, 'e'),
    [
      'taskList[taskItem{"checked":true}[paragraph[a] taskList[taskItem{"checked":false}[paragraph[b] taskList[taskItem{"checked":true}[paragraph[c]]]] taskItem{"checked":false}[paragraph[d]]]] taskItem{"checked":true}[paragraph[e]]]',
    ],
  ],
  [
    'checkboxes after bullets without an indent',
    item('a', 0, 2) + task(1, 'b', 720) + item('c', 1, 2),
    [
      'bulletList[listItem[paragraph[a]]]',
      'taskList[taskItem{"checked":true}[paragraph[b] bulletList[listItem[paragraph[c]]]]]',
    ],
  ],
  [
    'a checkbox in a cell',
    `<w:tbl><w:tr>${cell('a')}<w:tc><w:p>${createCheckbox(1)}</w:p></w:tc></w:tr></w:tbl>`,
    ['table[tableRow[tableCell[paragraph[a]] tableCell[taskList[taskItem{"checked":true}[paragraph[]]]]]]'],
  ],
  [
    'checkboxes after text and in a quote',
    `<w:p>${run('a ')}${createCheckbox(1)}${run(' b ')}${createCheckbox(0)}</w:p><w:p><w:pPr><w:pStyle w:val="quote"/></w:pPr>${createCheckbox(0)}${run(' c')}</w:p>`,
    ['paragraph[a ☒ b ☐]', 'blockquote[paragraph[☐ c]]'],
  ],
  [
    'a list that skips a level, with an empty item',
    item('a', 1, 2) + item('', 0) + item('b', 1, 2) + item('', 0, 2) + item('c'),
    [
      'bulletList[listItem[paragraph[] bulletList[listItem[paragraph[a]]]]]',
      'orderedList[listItem[paragraph[] bulletList[listItem[paragraph[b]]]] listItem[paragraph[c]]]',
    ],
  ],
  [
    'other formats and characters',
    `<w:p>${run('a', '<w:strike/><w:highlight w:val="red"/>')}${run('2', '<w:vertAlign w:val="subscript"/>')}<w:r><w:br/><w:sym w:font="Wingdings" w:char="F0FC"/><w:noBreakHyphen/><w:t>b</w:t><w:br w:type="page"/></w:r></w:p>`,
    ['paragraph[highlight(strike(a)) subscript(2) hardBreak[] ✓‑b]'],
  ],
  [
    'lowered and raised small text',
    `<w:p>${run('H')}${run('2', '<w:position w:val="-2"/><w:sz w:val="19"/>')}${run('a', '<w:position w:val="2"/>')}${run('3', '<w:position w:val="8"/><w:sz w:val="13"/>')}</w:p>`,
    ['paragraph[H subscript(2) a superscript(3)]'],
  ],
  [
    'a quote and code with an empty line',
    [
      p('a', '<w:pStyle w:val="quote"/>').repeat(2),
      ...['if x:', '', ' y'].map((line) => p(line, '<w:pStyle w:val="code"/>')),
    ].join(''),
    ['blockquote[paragraph[a] paragraph[a]]', 'codeBlock[if x:\\n\\n y]'],
  ],
  [
    'joined cells below a header',
    `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell('a', '<w:gridSpan w:val="2"/>')}${cell('b')}</w:tr><w:tr>${cell('c', '<w:gridSpan w:val="2"/>')}${cell('d', '<w:vMerge w:val="restart"/>')}</w:tr><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell('e')}${cell('f')}${cell('hidden', '<w:vMerge/>')}</w:tr></w:tbl>`,
    [
      'table[tableRow[tableHeader{"colspan":2}[paragraph[a]] tableHeader[paragraph[b]]] tableRow[tableCell{"colspan":2}[paragraph[c]] tableCell{"rowspan":2}[paragraph[d]]] tableRow[tableCell[paragraph[e]] tableCell[paragraph[f]]]]',
    ],
  ],
  [
    'a row that begins later, and joins there',
    table(cell('A') + cell('B', restart), later(cell('', '<w:vMerge/>'))),
    [tableLine('A | B{"rowspan":2}', '')],
  ],
  [
    'values of a row that begins later',
    table(
      cell('Step') + cell('Value') + cell('Unit'),
      later(cell('3') + cell('bar')),
      later(cell('x'), 2),
      later(cell('y'), 0),
    ),
    [tableLine('Step | Value | Unit', ' | 3 | bar', '{"colspan":2} | x', 'y')],
  ],
  [
    'a cell that continues none of the row above',
    table(
      cell('a') + cell('b', restart),
      cell('wide', '<w:gridSpan w:val="2"/>'),
      cell('c') + cell('d', '<w:vMerge/>'),
      cell('e', `<w:gridSpan w:val="2"/><w:vMerge/>`) + cell('f'),
    ),
    [tableLine('a | b', 'wide{"colspan":2}', 'c | d', 'e{"colspan":2} | f')],
  ],
  [
    'a row of which all cells continue those above',
    table(
      cell('a', restart) + cell('b', restart),
      cell('', '<w:vMerge/>').repeat(2),
      cell('', '<w:vMerge/>') + cell('c'),
      cell('d') + cell('e'),
    ),
    [tableLine('a{"rowspan":2} | b', 'c', 'd | e')],
  ],
])('a Word file is imported: %s', async (_name, body, expected) => {
  expect(await convertText(body)).toEqual(expected);
});

test('a table of contents with two styles is counted once', async () => {
  const contents = `<w:p>${beginField(' TOC ')}</w:p>${contentsLine(run('One 1') + endField)}`;
  expect(await convertBody(contents + p('a'))).toContain('dropped: table_of_contents 1');
});

test('a heading ends a table of contents without an end', async () => {
  const contents = contentsLine(beginField(' TOC ') + run('One 1'));
  expect(await convertBody(contents + head('One') + p('a'))).toEqual(
    expect.arrayContaining(['One', '    | paragraph[a]']),
  );
});

test('checkboxes are nested at most nine levels deep', async () => {
  const tasks = Array.from({ length: 500 }, (_each, at) => task(0, `${at}`, at * 20));
  const lines = await convertText(tasks.join(''));
  expect(lines.join('').match(/taskList/g)).toHaveLength(9);
  expect(lines.join('')).toContain('[499]');
});

test('text without a style has the list of the default style', async () => {
  const list = '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>';
  const normal = style('normal', 'Normal', list).replace('<w:style ', '<w:style w:default="true" ');
  const more = { 'word/styles.xml': `<w:styles xmlns:w="${W}">${normal}</w:styles>` };
  expect(await convert(zip(createParts(p('a'), more)))).toContain('    | bulletList[listItem[paragraph[a]]]');
});

test('notes of a title and a heading are kept', async () => {
  const headWithNote = (id: string) =>
    `<w:p><w:pPr><w:pStyle w:val="${id}"/></w:pPr>${run('A')}${note}</w:p>`;
  expect(await convertBody(headWithNote('titre') + headWithNote('h1') + p('a'))).toEqual([
    ...['A', '  section: Introduction', '    | orderedList[listItem[paragraph[A note.]]]'],
    ...['  section: A', '    | paragraph[a]', '    | orderedList{"start":2}[listItem[paragraph[A note.]]]'],
    'report: docx, 2 nodes, 0 pictures',
  ]);
});

test('accepted changes keep inserted text and lose deleted text', async () => {
  const mark = (kind: string) => `<w:pPr><w:rPr><w:${kind} w:id="1"/></w:rPr></w:pPr>`;
  const body = [
    `<w:p>${run('a ')}<w:ins w:id="1">${run('b')}</w:ins><w:del w:id="2"><w:r><w:delText>c</w:delText></w:r></w:del></w:p>`,
    `<w:p>${mark('del')}${run('d ')}</w:p><w:p>${run('e')}</w:p>`,
    `<w:tbl><w:tr><w:trPr><w:del w:id="3"/></w:trPr><w:tc>${p('f')}</w:tc></w:tr><w:tr><w:tc>${p('g')}</w:tc></w:tr></w:tbl>`,
  ].join('');
  expect(await convertText(body)).toEqual([]);
  expect(await convertBody(body)).toEqual(['rejected: tracked_changes']);
  expect(await convertText(body, true)).toEqual([
    'paragraph[a b]',
    'paragraph[d e]',
    'table[tableRow[tableCell[paragraph[g]]]]',
  ]);
});

test('a linked, missing or unsupported picture becomes its alternative text', async () => {
  const drawing = (id: string, kind: string) =>
    `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr descr="valve ${id}"/><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" r:${kind}="${id}"/></wp:inline></w:drawing></w:r></w:p>`;
  const entries = createParts(
    [drawing('emf', 'embed'), drawing('far', 'link'), drawing('gone', 'embed'), drawing('png', 'embed')].join(
      '',
    ),
    {
      '[Content_Types].xml': types({
        '/word/styles.xml': `${WORD_TYPE}.styles+xml`,
        '/word/numbering.xml': `${WORD_TYPE}.numbering+xml`,
        '/word/footnotes.xml': `${WORD_TYPE}.footnotes+xml`,
        '/word/a.emf': 'image/x-emf',
        '/word/a.png': 'image/png',
      }),
    },
    [
      ['emf', 'image', 'a.emf'],
      ['far', 'image', 'https://evil.example/a.png', 'External'],
      ['gone', 'image', 'gone.png'],
      ['png', 'image', 'a.png'],
    ],
  );
  const png = encodePng(2, 2, () => [1, 2, 3, 255]);
  const lines = await convert(
    zip([...entries, { name: 'word/a.emf', data: 'EMF' }, { name: 'word/a.png', data: png }]),
  );
  expect(lines).toEqual(
    expect.arrayContaining([
      '    | paragraph[[picture: valve emf]]',
      '    | paragraph[[picture: valve far]]',
      '    | paragraph[[picture: valve gone]]',
      expect.stringContaining('image{"src":"asset:'),
      'warning: picture_unsupported nodes/0',
      'warning: picture_missing nodes/0',
    ]),
  );
});

test.each(['styles', 'numbering', 'footnotes', 'endnotes'])(
  'a file whose part with %s is missing is rejected',
  async (type) => {
    const links = rels(['a', type, 'gone.xml']);
    expect(await convert(docx(p('a'), { 'word/_rels/document.xml.rels': links }))).toEqual([
      'rejected: malformed',
    ]);
  },
);

test('a file whose main part is missing is rejected', async () => {
  const links = rels(['a', 'officeDocument', 'word/gone.xml']);
  expect(await convert(docx(p('a'), { '_rels/.rels': links }))).toEqual(['rejected: malformed']);
});

test('a file without parts for styles and lists is imported', async () => {
  expect(await convert(docx(p('a')))).toEqual([
    'sop',
    '  section: Introduction',
    '    | paragraph[a]',
    'report: docx, 1 nodes, 0 pictures',
    'warning: no_headings',
  ]);
});
