/** Tests what parts of Word files become, with files that the tests write. */
import { expect, test } from '@jest/globals';
import type { XmlElement } from '#libs/opc';
import { encodePng } from '../../../../tests/fixtures/generators/png.ts';
import { toImportOutline } from '../../../../tests/imports/outline.ts';
import { docx, p, rels, parts as toParts, types, W, WORD_TYPE, zip } from '../../../../tests/word/samples.ts';
import { convertFile } from '../conversion.ts';
import { acceptTrackedChanges } from './tracked-changes.ts';

const style = (id: string, name: string, more = '') =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
const head = (text: string, id = 'h1') => p(text, `<w:pStyle w:val="${id}"/>`);
const item = (text: string, level = 0, num = 1) =>
  p(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${num}"/></w:numPr>`);
const indented = (text: string, left = 720) => p(text, `<w:ind w:left="${left}"/>`);
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
const M = 'http://schemas.openxmlformats.org/officeDocument/2006/math';
const inMath = (content: string) => `<m:oMath xmlns:m="${M}">${content}</m:oMath>`;
const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const mathElement = (name: string, content: string) => `<m:${name}>${content}</m:${name}>`;
const arg = (name: string, content: string) =>
  mathElement(name, content.startsWith('<') ? content : r(content));
/** An element with arguments, and with properties such as `chr=∑`. */
const math = (name: string, args: Record<string, string>, ...properties: string[]) =>
  mathElement(
    name,
    mathElement(
      `${name}Pr`,
      properties.map((each) => each.replace(/^(\w+)=(.*)$/, '<m:$1 m:val="$2"/>')).join(''),
    ) +
      Object.entries(args)
        .map(([local, content]) => arg(local, content))
        .join(''),
  );
const fraction = (num: string, den: string, ...properties: string[]) =>
  math('f', { num, den }, ...properties);
const power = (e: string, sup: string) => math('sSup', { e, sup });
const brackets = (e: string, ...properties: string[]) => math('d', { e }, ...properties);
const createCheckbox = (checked: 0 | 1) =>
  `<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w14:checked w14:val="${checked}"/></w14:checkbox></w:sdtPr></w:sdt>`;
const task = (checked: 0 | 1, text: string, left = 0) =>
  `<w:p><w:pPr><w:ind w:left="${left}"/></w:pPr>${createCheckbox(checked)}<w:r><w:tab/></w:r>${run(text)}</w:p>`;
const beginField = (code: string) =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`;
const shortField = (code: string, form = '') =>
  `<w:r><w:fldChar w:fldCharType="begin">${form}</w:fldChar></w:r><w:r><w:instrText>${code.replaceAll('"', '&quot;')}</w:instrText></w:r>${endField}`;
const choices = (chosen = '') =>
  `<w:ffData><w:ddList>${chosen}${[4, 6, 8].map((bar) => `<w:listEntry w:val="${bar} bar"/>`).join('')}</w:ddList></w:ffData>`;
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
  style('hidden', 'Hidden', '<w:rPr><w:vanish/></w:rPr>'),
  style('alsoHidden', 'Also Hidden', '<w:basedOn w:val="hidden"/>'),
  style('shown', 'Shown', '<w:basedOn w:val="hidden"/><w:rPr><w:vanish w:val="0"/></w:rPr>'),
  '<w:style w:type="character" w:styleId="toggle"><w:name w:val="Toggle"/><w:rPr><w:vanish/></w:rPr></w:style>',
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
const lettersBelow = override(1, '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl>');
const letters = '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="lowerLetter"/></w:lvl>';
const overridden = `<w:num w:numId="5"><w:abstractNumId w:val="2"/>${override(0, letters)}</w:num><w:num w:numId="6"><w:abstractNumId w:val="1"/>${startAt(1, 5)}</w:num><w:num w:numId="7"><w:abstractNumId w:val="1"/>${startAt(0, 4)}${startAt(1, 9)}</w:num><w:num w:numId="8"><w:abstractNumId w:val="1"/>${lettersBelow}</w:num>`;
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
  return toText(await convertBody(head('Top', 'titre') + head('One') + body, acceptChanges));
}

const toText = (lines: string[]) =>
  lines.filter((line) => line.includes('| ')).map((line) => line.replace(/^.*?\| /, ''));

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
    'text that the style of its paragraph hides',
    `<w:p><w:pPr><w:pStyle w:val="alsoHidden"/></w:pPr>${run('a')}${run('b', '<w:vanish w:val="0"/>')}${run('c', '<w:rStyle w:val="toggle"/>')}${inMath(r('d'))}</w:p>${p('e', '<w:pStyle w:val="shown"/>')}${p('f', '<w:pStyle w:val="hidden"/>')}`,
    ['paragraph[bc]', 'paragraph[e]'],
  ],
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
  [
    'a link to a place in a page',
    [
      'HYPERLINK "https://a.example/p" \\l "part 4"',
      'HYPERLINK https://a.example/p \\o "The \\l rule" \\t "_blank" \\l b',
      'HYPERLINK "https://a.example/p#own" \\l "b"',
      'HYPERLINK "mailto:a@a.example" \\l "b"',
    ]
      .map((code) => `<w:p>${field(code.replaceAll('"', '&quot;'), 'a')}</w:p>`)
      .join(''),
    [
      'https://a.example/p#part%204',
      'https://a.example/p#b',
      'https://a.example/p#own',
      'mailto:a@a.example',
    ].map((href) => `paragraph[link<${href}>(a)]`),
  ],
  ['an unsafe link in a field', `<w:p>${field('HYPERLINK "javascript:x"', 'a')}</w:p>`, ['paragraph[a]']],
  [
    'fields without a result',
    `<w:p>${[
      shortField('FORMDROPDOWN', choices('<w:result w:val="1"/>')),
      shortField('FORMDROPDOWN', choices('<w:default w:val="2"/>')),
      shortField('FORMDROPDOWN', choices()),
      shortField(' MACROBUTTON NoMacro [Enter name] '),
      shortField(' GOTOBUTTON page_2 Next page'),
      shortField(' SYMBOL 176 '),
      shortField('SYMBOL 0x80 \\f "Arial" \\s 10'),
      shortField('SYMBOL 8805 \\u'),
      shortField('SYMBOL 252 \\f Wingdings'),
      shortField('SYMBOL 9999999'),
      shortField('SYMBOL 55296'),
      shortField('XE "index"'),
      `${beginField('TOC')}${shortField('SYMBOL 176')}${endField}`,
    ].join(run(','))}</w:p>`,
    ['paragraph[6 bar,8 bar,4 bar,[Enter name],Next page,°,€,≥,✓,,,,]'],
  ],
  ['a page number', `<w:p>${run('p. ')}${field(' PAGEREF _Toc1 ', '7')}</w:p>`, ['paragraph[p. 7]']],
  ['a table of contents in a field', `<w:p>${field(' TOC \\o ', 'One 1')}</w:p>${p('a')}`, ['paragraph[a]']],
  [
    'tables of contents in simple fields',
    `<w:p><w:fldSimple w:instr=" TOC \\o ">${run('One 1')}${beginField('PAGEREF a')}${endField}</w:fldSimple></w:p><w:p>${run('a ')}<w:fldSimple w:instr="toa">${run('b')}</w:fldSimple><w:fldSimple w:instr="TOCX">${run('c')}</w:fldSimple></w:p><w:fldSimple w:instr="TOC">${run('d')}</w:fldSimple>`,
    ['paragraph[a c]'],
  ],
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
    'formulas of one paragraph',
    `<w:p>${run('2')}${inMath(fraction('1', '2'))}</w:p><w:p><m:oMathPara xmlns:m="${M}"><m:oMath>${r('x=1')}</m:oMath><m:oMath>${r('y=2')}</m:oMath></m:oMathPara></w:p>`,
    ['paragraph[2 (1/2)]', 'paragraph[x=1 hardBreak[] y=2]'],
  ],
  [
    'formulas outside of paragraphs',
    `${inMath(r('x=1'))}<m:oMathPara xmlns:m="${M}">${inMath(r('y'))}</m:oMathPara>${p('a')}`,
    ['paragraph[x=1]', 'paragraph[y]', 'paragraph[a]'],
  ],
  ['a formula as text', `<w:p>${run('a ')}${inMath(r('x=1'))}</w:p>`, ['paragraph[a x=1]']],
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
    item('a', 1, 2) + item('', 0) + item('b', 2, 2) + item('', 0, 2) + item('c', 1, 2) + item('d'),
    [
      'bulletList[listItem[paragraph[a]]]',
      'orderedList[listItem[paragraph[] bulletList[listItem[paragraph[b]]] bulletList[listItem[paragraph[c]]]] listItem[paragraph[d]]]',
    ],
  ],
  [
    'a deeper level that continues after other text',
    item('a', 0, 8) + item('b', 1, 8) + p('x') + item('c', 1, 8) + item('d', 2, 8) + item('e', 0, 8),
    [
      'orderedList[listItem[paragraph[a] orderedList{"type":"a"}[listItem[paragraph[b]]] paragraph[x] orderedList{"start":2,"type":"a"}[listItem[paragraph[c] bulletList[listItem[paragraph[d]]]]]] listItem[paragraph[e]]]',
    ],
  ],
  [
    'a deeper level that begins after other text',
    item('a', 0, 8) + p('x') + p('y') + item('b', 1, 8) + item('c', 0, 8) + p('z') + item('d', 0, 8),
    [
      'orderedList[listItem[paragraph[a] paragraph[x] paragraph[y] orderedList{"type":"a"}[listItem[paragraph[b]]]] listItem[paragraph[c]]]',
      'paragraph[z]',
      'orderedList{"start":3}[listItem[paragraph[d]]]',
    ],
  ],
  [
    'deeper items of another list or of bullets after other text',
    item('a') + p('x') + item('b', 1, 2) + item('c', 0, 2) + p('y') + item('d', 1, 2),
    [
      ...['orderedList[listItem[paragraph[a]]]', 'paragraph[x]', 'bulletList[listItem[paragraph[b]]]'],
      ...['bulletList[listItem[paragraph[c]]]', 'paragraph[y]', 'bulletList[listItem[paragraph[d]]]'],
    ],
  ],
  [
    'bullets that have a second paragraph',
    item('a', 0, 2) + indented('b') + item('c', 1, 2) + item('d', 0, 2) + indented('e') + item('f', 0, 2),
    [
      'bulletList[listItem[paragraph[a] paragraph[b] bulletList[listItem[paragraph[c]]]] listItem[paragraph[d] paragraph[e]] listItem[paragraph[f]]]',
    ],
  ],
  [
    'second paragraphs of items on two levels',
    [
      ...[item('a', 0, 2), item('b', 1, 2), indented('c', 1440), indented('d', 720), indented('e', 1440)],
      ...[item('f', 1, 2), item('g', 0, 1), indented('h'), item('i', 0, 1)],
    ].join(''),
    [
      'bulletList[listItem[paragraph[a] bulletList[listItem[paragraph[b] paragraph[c] paragraph[d] paragraph[e]] listItem[paragraph[f]]]]]',
      'orderedList[listItem[paragraph[g] paragraph[h]] listItem[paragraph[i]]]',
    ],
  ],
  [
    'numbers below a bullet that has a second paragraph, and the reverse',
    item('a', 0, 2) + indented('b') + item('c', 1) + item('d', 0) + indented('e') + item('f', 1, 2),
    [
      'bulletList[listItem[paragraph[a] paragraph[b] orderedList[listItem[paragraph[c]]]]]',
      'orderedList[listItem[paragraph[d] paragraph[e] bulletList[listItem[paragraph[f]]]]]',
    ],
  ],
  [
    'text after bullets that is not indented with them, or follows another list',
    item('a', 0, 2) + indented('b') + p('c') + item('d', 0, 2) + indented('e') + item('f', 0, 1),
    [
      ...['bulletList[listItem[paragraph[a]]]', 'paragraph[b]', 'paragraph[c]'],
      ...['bulletList[listItem[paragraph[d]]]', 'paragraph[e]', 'orderedList[listItem[paragraph[f]]]'],
    ],
  ],
  [
    'a number that continues a deeper level only by chance',
    item('a') + item('b') + item('c', 1) + head('Two') + item('d', 1) + item('e'),
    [
      'orderedList[listItem[paragraph[a]] listItem[paragraph[b] orderedList[listItem[paragraph[c]]]]]',
      'orderedList{"start":2}[listItem[paragraph[d]]]',
      'orderedList{"start":3}[listItem[paragraph[e]]]',
    ],
  ],
  [
    'the next letter after a number',
    item('a') + item('b') + item('c', 0, 5),
    [
      'orderedList[listItem[paragraph[a]] listItem[paragraph[b]]]',
      'orderedList{"start":3,"type":"a"}[listItem[paragraph[c]]]',
    ],
  ],
  [
    'other formats and characters',
    `<w:p>${run('a', '<w:strike/><w:highlight w:val="red"/>')}${run('2', '<w:vertAlign w:val="subscript"/>')}<w:r><w:br/><w:sym w:font="Wingdings" w:char="F0FC"/><w:noBreakHyphen/><w:t>b</w:t><w:br w:type="page"/></w:r></w:p>`,
    ['paragraph[highlight(strike(a)) subscript(2) hardBreak[] ✓‑b]'],
  ],
  [
    'symbols as LibreOffice writes them',
    `<w:p>${run('80 \uF0B0C \uF001', '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>')}${run('\uF0B0')}</w:p>`,
    ['paragraph[80 °C \uF001\uF0B0]'],
  ],
  [
    'text before and after the end of a page or column',
    `<w:p><w:r><w:br w:type="page"/><w:t>a</w:t><w:br w:type="page"/></w:r>${run('b')}<w:r><w:br w:type="column"/></w:r></w:p><w:p><w:r><w:br w:type="page"/></w:r></w:p>${p('c')}`,
    ['paragraph[a hardBreak[] b]', 'paragraph[c]'],
  ],
  [
    'a text box of which there is only one form',
    `<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice>${box(p('a')).slice(5, -6)}</mc:Choice><mc:Fallback/></mc:AlternateContent></w:r></w:p>`,
    ['paragraph[a]'],
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
    'cells that continue those before and above them',
    table(
      cell('a', '<w:hMerge w:val="restart"/>') + cell('b', '<w:hMerge/>') + cell('c'),
      cell('d', restart) + cell('', `<w:hMerge/>${restart}`) + cell('e', '<w:hMerge w:val="restart"/>'),
      cell('', '<w:vMerge/>') + cell('', '<w:hMerge/><w:vMerge/>') + cell('f'),
    ),
    [
      'table[tableRow[tableCell{"colspan":2}[paragraph[a] paragraph[b]] tableCell[paragraph[c]]] tableRow[tableCell{"colspan":2,"rowspan":2}[paragraph[d]] tableCell[paragraph[e]]] tableRow[tableCell[paragraph[f]]]]',
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

/** Styles whose list `2` has bullets at 720 and 1440 twips. */
const bulletStyles = [
  style('item', 'Item', '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>'),
  style('below', 'Below', '<w:basedOn w:val="item"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr>'),
  style('none', 'None', '<w:basedOn w:val="below"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>'),
  style('list2', 'List Bullet 2', '<w:basedOn w:val="item"/>'),
  style('list3', 'List Bullet 3', '<w:basedOn w:val="below"/>'),
  style('more', 'List Continue', '<w:pPr><w:ind w:left="720"/></w:pPr>'),
  style('more2', 'List Continue 2', '<w:basedOn w:val="more"/><w:pPr><w:ind w:start="1440"/></w:pPr>'),
  style('left', 'Left', '<w:basedOn w:val="item"/><w:pPr><w:ind w:left="0"/></w:pPr>'),
].join('');
const bulletLevels = [720, 1_440]
  .map((left, at) => {
    const ind = `<w:pPr><w:ind w:left="${left}"/></w:pPr>`;
    return `<w:lvl w:ilvl="${at}"><w:numFmt w:val="bullet"/>${ind}</w:lvl>`;
  })
  .join('');
const bulletNumbering = `<w:abstractNum w:abstractNumId="2">${bulletLevels}</w:abstractNum><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>`;
const styled = (id: string, text: string, more = '') => p(text, `<w:pStyle w:val="${id}"/>${more}`);
const inLevel = (level: number) => `<w:numPr><w:ilvl w:val="${level}"/></w:numPr>`;

test.each<[string, string, string[]]>([
  [
    'a style that sets only the level of its list',
    styled('item', 'a') + styled('below', 'b') + styled('none', 'c') + styled('below', 'd', inLevel(0)),
    [
      'bulletList[listItem[paragraph[a] bulletList[listItem[paragraph[b]]]]]',
      ...['paragraph[c]', 'bulletList[listItem[paragraph[d]]]'],
    ],
  ],
  [
    'styles whose names or lists tell their levels',
    styled('item', 'a') +
      styled('list2', 'b', '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="2"/></w:numPr>') +
      styled('list3', 'c'),
    [
      'bulletList[listItem[paragraph[a] bulletList[listItem[paragraph[b] bulletList[listItem[paragraph[c]]]]]]]',
    ],
  ],
  [
    'text that its style indents with a bullet',
    [
      ...[styled('item', 'a'), styled('more', 'b'), styled('below', 'c'), styled('more2', 'd')],
      ...[styled('more', 'e'), styled('below', 'f'), styled('more', 'g', '<w:ind w:left="0"/>')],
      styled('below', 'h'),
    ].join(''),
    [
      'bulletList[listItem[paragraph[a] paragraph[b] bulletList[listItem[paragraph[c] paragraph[d]]] paragraph[e] bulletList[listItem[paragraph[f]]]]]',
      ...['paragraph[g]', 'bulletList[listItem[paragraph[h]]]'],
    ],
  ],
  [
    'code, a quote and a table that are indented with the bullet',
    [
      ...[styled('item', 'a'), styled('code', 'b', '<w:ind w:left="720"/>'), styled('code', 'c')],
      ...[item('d', 0, 2), styled('quote', 'e', '<w:ind w:left="720"/>'), item('f', 0, 2)],
      table(cell('g')).replace('<w:tbl>', '$&<w:tblPr><w:tblInd w:w="720" w:type="dxa"/></w:tblPr>'),
      ...[item('h', 0, 2), table(cell('i')), item('j', 0, 2)],
    ].join(''),
    [
      'bulletList[listItem[paragraph[a] codeBlock[b\\nc]] listItem[paragraph[d] blockquote[paragraph[e]]] listItem[paragraph[f] table[tableRow[tableCell[paragraph[g]]]]] listItem[paragraph[h]]]',
      ...['table[tableRow[tableCell[paragraph[i]]]]', 'bulletList[listItem[paragraph[j]]]'],
    ],
  ],
  [
    'text that is indented less than the bullet',
    styled('item', 'a') + indented('b', 360) + item('c', 0, 2),
    ['bulletList[listItem[paragraph[a]]]', 'paragraph[b]', 'bulletList[listItem[paragraph[c]]]'],
  ],
  [
    'bullets whose style or paragraph changes the indent of the list',
    styled('left', 'a') +
      indented('b', 360) +
      styled('left', 'c', '<w:ind w:left="1000"/>') +
      indented('d') +
      item('e', 0, 2),
    [
      'bulletList[listItem[paragraph[a] paragraph[b]] listItem[paragraph[c]]]',
      ...['paragraph[d]', 'bulletList[listItem[paragraph[e]]]'],
    ],
  ],
  [
    'checkboxes that the list and styles indent',
    styled('item', 'a') +
      task(1, 'b', 1_440) +
      styled('more', '').replace('</w:p>', `${createCheckbox(0)}${run('c')}</w:p>`),
    [
      'bulletList[listItem[paragraph[a] taskList[taskItem{"checked":true}[paragraph[b]]]]]',
      'taskList[taskItem{"checked":false}[paragraph[c]]]',
    ],
  ],
])('indents and lists of styles are read: %s', async (_name, body, expected) => {
  const lines = await convert(
    zip(
      createParts(head('One') + body, {
        'word/styles.xml': `<w:styles xmlns:w="${W}">${styles}${bulletStyles}</w:styles>`,
        'word/numbering.xml': `<w:numbering xmlns:w="${W}">${bulletNumbering}</w:numbering>`,
      }),
    ),
  );
  expect(toText(lines)).toEqual(expected);
});

test('clauses below numbered headings begin with 1 again', async () => {
  const numbered = style('h1', 'heading 1', '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>');
  const more = { 'word/styles.xml': `<w:styles xmlns:w="${W}">${numbered}</w:styles>` };
  const body = head('One') + item('a', 1) + item('b', 1) + head('Two') + item('c', 1) + item('d', 1);
  const lines = await convert(zip(createParts(body, more)));
  expect(toText(lines)).toEqual([
    'orderedList[listItem[paragraph[a]] listItem[paragraph[b]]]',
    'orderedList[listItem[paragraph[c]] listItem[paragraph[d]]]',
  ]);
});

/** Three levels with numbers; `restarts` is the `lvlRestart` of the second and third one. */
const restarting = (restarts: number) =>
  [0, 1, 2]
    .map((at) => `<w:lvl w:ilvl="${at}">${at > 0 ? `<w:lvlRestart w:val="${restarts}"/>` : ''}</w:lvl>`)
    .join('');
const convertList = (list: string, body: string) => {
  const lists = `<w:abstractNum w:abstractNumId="1">${list}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>`;
  return convert(
    zip(createParts(body, { 'word/numbering.xml': `<w:numbering xmlns:w="${W}">${lists}</w:numbering>` })),
  );
};

test.each([
  ['after no level', 0, [1, 1, 1, 2, 2, 2, 3, 3]],
  ['after the first level', 1, [1, 1, 1, 2, 1, 1, 2, 2]],
  ['after every level above', 9, [1, 1, 1, 2, 1, 1, 2, 1]],
])('a level of a list starts again %s', async (_name, restarts, expected) => {
  const body = [0, 1, 2, 0, 1, 2, 1, 2].map((level) => head('A') + item('a', level)).join('');
  const lists = toText(await convertList(restarting(restarts), body));
  expect(lists.map((line) => Number(/"start":(\d+)/.exec(line)?.[1] ?? 1))).toEqual(expected);
});

test('marks of a list that are text are kept, and empty ones are not numbers', async () => {
  const marks = ['none WARNING:', 'decimal Note:', 'none %3', 'decimal ', 'bullet  ', 'bullet -'].map(
    (mark, at) => {
      const [format, text] = mark.split(/ (.*)/);
      return `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
    },
  );
  const body = [0, 1, 2, 3, 4, 5].map((level) => item(`${level}`, level)).join('');
  const lines = await convertList(marks.join(''), body);
  expect(toText(lines)).toEqual([
    ...['paragraph[WARNING: 0]', 'paragraph[Note: 1]', 'paragraph[2]', 'paragraph[3]'],
    ...['paragraph[4]', 'bulletList[listItem[paragraph[5]]]'],
  ]);
});

test('a link keeps the place in its page', async () => {
  const body = `<w:p><w:hyperlink r:id="far" w:anchor="part-3">${run('a')}</w:hyperlink></w:p>`;
  const lines = await convert(
    zip(createParts(body, {}, [['far', 'hyperlink', 'https://a.example/p', 'External']])),
  );
  expect(lines).toContain('    | paragraph[link<https://a.example/p#part-3>(a)]');
});

test.each([
  ['x=(1/2)+10^3', r('x=') + fraction('1', '2') + r('+') + power('10', '3')],
  ['2 (1/2) bar', r('2') + fraction('1', '2') + r(' bar')],
  ['((a+b)/(2c))^(-1)', power(fraction('a+b', '2c'), '-1')],
  ['E=m c^2 t', r('E=m') + power('c', '2') + r('t')],
  ['45°C', power('45', '∘') + r('C')],
  [
    'x_i+x_(ij)^2',
    math('sSub', { e: 'x', sub: 'i' }) + r('+') + math('sSubSup', { e: 'x', sub: 'ij', sup: '2' }),
  ],
  ['_6^14 C', math('sPre', { sub: '6', sup: '14', e: 'C' })],
  ['2√(x+1)', r('2') + math('rad', { deg: '', e: 'x+1' }, 'degHide=1')],
  ['5 (x)^(1/3)', r('5 ') + math('rad', { deg: '3', e: 'x' })],
  ['∑_(i=1)^n (a+b)', math('nary', { sub: 'i=1', sup: 'n', e: brackets('a+b') }, 'chr=∑')],
  ['∫ x', math('nary', { sub: '', sup: '', e: 'x' })],
  ['f(x)=|x|', r('f') + brackets('x') + r('=') + brackets('x', 'begChr=|', 'endChr=|')],
  ['2 sin(1/2)', r('2') + math('func', { fName: 'sin', e: brackets(fraction('1', '2')) })],
  ['log_2(x)', math('func', { fName: math('sSub', { e: 'log', sub: '2' }), e: 'x' })],
  ['lim_(x→0)(x)', math('func', { fName: math('limLow', { e: 'lim', lim: 'x→0' }), e: 'x' })],
  ['(n¦k)', brackets(fraction('n', 'k', 'type=noBar'))],
  [
    '{x=1; y=2',
    brackets(mathElement('eqArr', arg('e', 'x&amp;=1') + arg('e', 'y&amp;=2')), 'begChr={', 'endChr='),
  ],
  [
    '[1, 2; 3, 4]',
    mathElement(
      'm',
      ['12', '34'].map((row) => mathElement('mr', [...row].map((each) => arg('e', each)).join(''))).join(''),
    ),
  ],
  ['x\u0302+y\u0305', math('acc', { e: 'x' }) + r('+') + math('bar', { e: 'y' }, 'pos=top')],
  ['ab', mathElement('borderBox', arg('e', 'a')) + math('phant', { e: 'x' }, 'show=0') + r('b')],
  ['abc', mathElement('constructor', r('a')) + mathElement('__proto__', r('b')) + r('c')],
])('a formula becomes text with the same meaning: %s', async (text, content) => {
  expect(await convertText(`<w:p>${inMath(content)}</w:p>`)).toEqual([`paragraph[${text}]`]);
});

test('deeply nested formulas become text', async () => {
  const nest = (wrapIn: (inner: string) => string) => {
    let content = 'x';
    for (let depth = 0; depth < 100; depth += 1) content = wrapIn(content);
    return `<w:p>${inMath(content)}</w:p>`;
  };
  expect(await convertText(nest(brackets))).toEqual([`paragraph[${'('.repeat(100)}x${')'.repeat(100)}]`]);
  const [powers] = await convertText(nest((inner) => power('a', inner)));
  expect(powers?.split('a^').length).toBe(101);
});

test('a table of contents with two styles is counted once', async () => {
  const contents = `<w:p>${beginField(' TOC ')}</w:p>${contentsLine(run('One 1') + endField)}`;
  expect(await convertBody(contents + p('a'))).toContain('dropped: table_of_contents 1');
});

test('a table of contents in a simple field is counted once', async () => {
  const simple = `<w:fldSimple w:instr="TOC">${run('One 1')}</w:fldSimple>`;
  expect(await convertBody(`<w:p>${simple}</w:p>${p('a')}`)).toContain('dropped: table_of_contents 1');
  const contents = `<w:p>${beginField(' TOC ')}${simple}${endField}</w:p>${contentsLine(simple)}`;
  expect(await convertBody(contents + p('a'))).toContain('dropped: table_of_contents 2');
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

test('paragraphs are joined across bookmarks and marks of ranges', async () => {
  const deleted = (text: string) => `<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr>${run(text)}</w:p>`;
  const marks = ['bookmarkStart', 'bookmarkEnd', 'commentRangeStart', 'moveToRangeEnd'];
  const body = `${deleted('a ')}\n${marks.map((mark) => `<w:${mark} w:id="2"/>`).join('')}${p('b')}`;
  expect(await convertText(body, true)).toEqual(['paragraph[a b]']);
  expect(await convertText(deleted('a') + table(cell('b')) + p('c'), true)).toEqual([
    ...['paragraph[a]', 'table[tableRow[tableCell[paragraph[b]]]]', 'paragraph[c]'],
  ]);
});

// would take minutes in quadratic time
test('200,000 joined paragraphs are accepted', () => {
  const create = (local: string, children: XmlElement[] = []): XmlElement => ({
    ...{ name: `w:${local}`, uri: W, local, attributes: [], children },
  });
  const joined = () => create('p', [create('pPr', [create('rPr', [create('del')])]), create('r')]);
  const body = create('body', Array.from({ length: 200_000 }, joined));
  acceptTrackedChanges(body);
  expect(body.children).toHaveLength(1);
});

const drawingSpaces =
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:g="http://schemas.microsoft.com/office/word/2010/wordprocessingGroup" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"';
const inPicture = (content: string) => `<w:r><w:pict ${drawingSpaces}>${content}</w:pict></w:r>`;
/** A drawing of 300 × 200 pixels. */
const inDrawing = (content: string) =>
  `<w:r><w:drawing ${drawingSpaces}><wp:inline><wp:extent cx="2857500" cy="1905000"/><wp:docPr descr="valve"/>${content}</wp:inline></w:drawing></w:r>`;
const textBox = (content: string) => `<w:txbxContent>${content}</w:txbxContent>`;

/** Imports a text with the picture `png`, and returns the lines of its blocks and warnings. */
async function convertPictures(
  body: string,
  links: [string, string, string, string?][] = [],
): Promise<string[]> {
  const entries = createParts(body, {}, [['png', 'image', 'a.png'], ...links]);
  const png = encodePng(2, 2, () => [1, 2, 3, 255]);
  const lines = await convert(zip([...entries, { name: 'word/a.png', data: png }]));
  return lines
    .filter((line) => /\| |^(warning|dropped): /.test(line) && !line.includes('no_headings'))
    .map((line) => line.replace(/^ *\| /, '').replace(/asset:\w+/, 'asset'));
}

test.each([
  ['in a drawing', inDrawing(`<g:wgp><a:blip r:embed="png"/>${textBox(p('call'))}</g:wgp>`), ''],
  [
    'in VML',
    inPicture(
      `<v:group alt="valve" style="width:225pt;height:150pt" coordsize="300,100"><v:shape style="width:200;height:50"><v:imagedata r:id="png"/></v:shape>${textBox(p('call'))}</v:group>`,
    ),
    ',"width":200,"height":100',
  ],
])('a picture grouped with a text box is imported: %s', async (_name, group, size) => {
  expect(await convertPictures(`<w:p>${group}</w:p>`)).toEqual([
    `image{"src":"asset","alt":"valve"${size}}[]`,
    'paragraph[call]',
  ]);
});

test('a picture in a text box is imported once', async () => {
  const inner = `<w:p>${run('see ')}${inDrawing('<a:blip r:embed="png"/>')}</w:p>`;
  expect(await convertPictures(`<w:p>${inDrawing(textBox(inner))}</w:p>`)).toEqual([
    'paragraph[see  image{"src":"asset","alt":"valve","width":300,"height":200}[]]',
  ]);
});

test.each([
  ['in a drawing', inDrawing('<a:blip r:embed="png"/><a:srcRect l="50000" b="20000" r="0"/>')],
  [
    'in VML',
    inPicture(
      '<v:shape alt="valve" style="width:225pt;height:150pt"><v:imagedata r:id="png" cropleft="32768f" cropbottom=".2"/></v:shape>',
    ),
  ],
])('a cropped picture is imported as a whole, with a warning: %s', async (_name, picture) => {
  expect(await convertPictures(`<w:p>${picture}</w:p>`)).toEqual([
    'image{"src":"asset","alt":"valve","width":600,"height":250}[]',
    'warning: picture_cropped nodes/0',
  ]);
});

test('a picture with a margin is not cropped', async () => {
  const edges = '<a:srcRect l="-50000" r="-50000"/>';
  expect(await convertPictures(`<w:p>${inDrawing(`<a:blip r:embed="png"/>${edges}`)}</w:p>`)).toEqual([
    'image{"src":"asset","alt":"valve","width":150,"height":200}[]',
  ]);
});

test('a picture at an https address stays a link', async () => {
  const link: [string, string, string, string] = ['far', 'image', 'https://a.example/a.png', 'External'];
  const body = `<w:p>${inDrawing('<a:blip r:link="far"/>')}</w:p>`;
  expect(await convertPictures(body, [link])).toEqual([
    'image{"src":"https://a.example/a.png","alt":"valve","width":300,"height":200}[]',
    'warning: picture_remote nodes/0',
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
      ['far', 'image', 'http://evil.example/a.png', 'External'],
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
