/** Tests fields: fields that reach outside the file are removed, all others stay. */
import { expect, test } from '@jest/globals';
import { compile, createDocument, docx, getText, p, renderParts } from '../../../../tests/word/samples.ts';

const mark = (kind: string) => `<w:r><w:fldChar w:fldCharType="${kind}"/></w:r>`;
const code = (...pieces: string[]) =>
  pieces.map((text) => `<w:r><w:instrText>${text}</w:instrText></w:r>`).join('');
const shownText = '<w:r><w:t>shown</w:t></w:r>';
const field = (instruction: string) =>
  mark('begin') + instruction + mark('separate') + shownText + mark('end');

async function compileAndRender(paragraph: string) {
  const template = await compile(docx(`<w:p>${paragraph}</w:p>${p('{{content}}')}`));
  const { 'word/document.xml': xml = '' } = await renderParts(createDocument(), template);
  return { xml, text: getText(xml), warnings: template.warnings };
}

test.each([
  'DDE Excel "C:\\a.xls" R1C1',
  'ddeauto c:\\\\windows\\\\system32\\\\cmd.exe "/k calc"',
  'INCLUDETEXT "\\\\server\\share\\a.docx"',
  'INCLUDEPICTURE "http://tracker.example/a.png"',
  'IMPORT "a.png"',
  'LINK Excel.Sheet.8 "C:\\a.xls"',
  'DATABASE \\d "C:\\a.mdb"',
  'MACROBUTTON AutoOpen click',
  'PRINT 27',
  'HYPERLINK "file:///C:/Windows/System32/calc.exe"',
  'HYPERLINK javascript:alert(1)',
])('the field %s is replaced by its text', async (instruction) => {
  const escaped = instruction.replaceAll('"', '&quot;');
  for (const markup of [
    field(code(escaped)),
    field(code(...[...instruction].map((character) => character.replace('"', '&quot;')))),
    `<w:fldSimple w:instr="${escaped}">${shownText}</w:fldSimple>`,
  ]) {
    const { xml, text, warnings } = await compileAndRender(markup);
    expect(xml).not.toMatch(/instr|fldChar/);
    expect(text).toBe('shown');
    expect(warnings).toEqual([expect.stringContaining('reaches outside the file')]);
  }
});

test('a field whose instruction starts with another field is removed', async () => {
  const inner = mark('begin') + code('QUOTE 68 68 69') + mark('separate') + shownText + mark('end');
  const { xml, text } = await compileAndRender(
    mark('begin') + inner + code(' cmd') + mark('separate') + shownText + mark('end'),
  );
  expect(xml).not.toMatch(/instr|fldChar/);
  expect(text).toBe('shown');
});

const quote = field(code('QUOTE &quot;LUDE&quot;'));
const run = (inner: string) => `<w:r>${inner}</w:r>`;
const instruction = (text: string) => `<w:instrText>${text}</w:instrText>`;
const mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';

test.each([
  ['a nested field in its keyword', code('INC') + quote + code('TEXT a')],
  ['a nested field after its keyword', code('PAGE') + quote],
  [
    'a simple nested field in its keyword',
    `${code('INC')}<w:fldSimple w:instr="QUOTE LUDE">${shownText}</w:fldSimple>${code('TEXT a')}`,
  ],
  [
    'a content control in its keyword',
    `${code('INC')}<w:sdt><w:sdtContent>${code('X')}</w:sdtContent></w:sdt>${code('LUDETEXT a')}`,
  ],
  ['a symbol in its keyword', run(`${instruction('INC')}<w:sym w:char="004C"/>${instruction('UDETEXT a')}`)],
  [
    'deleted text before its keyword',
    `<w:del>${run('<w:delInstrText>PAGE </w:delInstrText>')}</w:del>${code('DDE a')}`,
  ],
  [
    'an alternative keyword',
    `<mc:AlternateContent ${mc}><mc:Choice Requires="x">${code('PAGE ')}</mc:Choice>` +
      `<mc:Fallback>${code('INCLUDETEXT a')}</mc:Fallback></mc:AlternateContent>`,
  ],
  ['its keyword as ordinary text', run('<w:t>DDEAUTO</w:t>') + code(' a')],
  ['a tab behind its keyword', run(`${instruction('DDE')}<w:tab/>${instruction('a')}`)],
  ['a tab in its keyword', run(`${instruction('DDE')}<w:tab/>${instruction('AUTO a')}`)],
  ['a line end behind its keyword', `${code('DDE')}</w:p><w:p>${code('a')}`],
  ['an invisible character in its keyword', code('INC\u200bLUDETEXT a')],
  ['a switch behind its keyword', code('INCLUDEPICTURE\\d a')],
  ['a link with a file behind its anchor', code('HYPERLINK \\l &quot;a&quot; &quot;file:///c:/a&quot;')],
  ['a link whose target is a field', code('HYPERLINK ') + quote + code(' &quot;https://a.example&quot;')],
])('a field with %s is removed', async (_what, markup) => {
  const { xml, warnings } = await compileAndRender(
    mark('begin') + markup + mark('separate') + shownText + mark('end'),
  );
  expect(xml).not.toMatch(/instrText|InstrText|fldChar/);
  expect(xml).toContain('shown');
  expect(warnings).toContainEqual(expect.stringContaining('reaches outside the file'));
});

test.each([
  ['a formula of a nested field', code('=') + field(code('PAGE')) + code('-1')],
  ['nested fields as arguments', code('IF ') + field(code('PAGE')) + code(' = 1 &quot;a&quot;')],
  [
    'a nested field in a web address',
    code('HYPERLINK &quot;https://a.example/') + field(code('PAGE')) + code('&quot;'),
  ],
])('a field with %s stays', async (_what, markup) => {
  const { xml, warnings } = await compileAndRender(
    mark('begin') + markup + mark('separate') + shownText + mark('end'),
  );
  expect(xml.match(/w:fldCharType/g)).toHaveLength(6);
  expect(warnings).toEqual([]);
});

test('an unsafe field inside a safe one is removed', async () => {
  const { xml } = await compileAndRender(
    mark('begin') + code('IF 1 = 1 ') + field(code('DDE a b')) + mark('separate') + shownText + mark('end'),
  );
  expect(xml).not.toContain('DDE');
  expect(xml).toContain('IF 1 = 1');
});

test('an unsafe field without an end is removed', async () => {
  expect((await compileAndRender(mark('begin') + code('DDEAUTO a b'))).xml).not.toMatch(/instr|fldChar/);
});

test.each([
  'PAGE',
  'NUMPAGES \\* MERGEFORMAT',
  'REF a',
  'HYPERLINK "https://a.example"',
  'HYPERLINK \\l "_Toc1"',
  'HYPERLINK "https://a.example" \\o "Tip" \\t "_blank"',
  'DATE',
])('the field %s stays', async (instruction) => {
  const { xml, warnings } = await compileAndRender(field(code(instruction.replaceAll('"', '&quot;'))));
  expect(xml.match(/w:fldCharType/g)).toHaveLength(3);
  expect(warnings).toEqual([]);
});

test('a table of contents is marked for an update', async () => {
  expect((await compileAndRender(field(code('TOC \\o')))).xml).toContain(
    '<w:fldChar w:fldCharType="begin" w:dirty="true"/>',
  );
});
