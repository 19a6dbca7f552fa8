/** Tests titles, headings, numbers, pictures and limits of Markdown, HTML and zip files. */
import { expect, test } from '@jest/globals';
import { encodePng } from '../../../tests/fixtures/generators/png.ts';
import { toImportOutline } from '../../../tests/imports/outline.ts';
import { docx, p, zip } from '../../../tests/word/samples.ts';
import { convertFile } from './conversion.ts';
import { maxWarnings } from './report.ts';

const convert = (text: string | Uint8Array, name = 'my file.md') =>
  convertFile({ name, bytes: new Uint8Array(Buffer.from(text as string)), acceptChanges: false });

/** The lines of the outline, without the number of nodes. */
async function outline(text: string | Uint8Array, name?: string): Promise<string[]> {
  const lines = toImportOutline(await convert(text, name)).split('\n');
  return lines.filter((line) => !line.startsWith('report:')).map((line) => line.trim());
}

test.each<[string, string, string[]]>([
  ['a title alone', '# One', ['One']],
  ['a title and text', '# One\n\na', ['One', 'section: Introduction', '| paragraph[a]']],
  ['no title', '## A\n\n## B', ['my file', 'section: A', 'section: B']],
  ['a first heading that is not alone', '# A\n\n# B', ['my file', 'section: A', 'section: B']],
  ['no headings', 'a', ['my file', 'section: Introduction', '| paragraph[a]', 'warning: no_headings']],
  ['an empty file', '', ['my file', 'warning: no_headings']],
  [
    'an empty heading',
    '# T\n\n##\n\na',
    ['T', 'section: Untitled', '| paragraph[a]', 'warning: untitled nodes/0'],
  ],
  [
    'a step before a section',
    '# T\n\n### A\n\n## B\n\n### C',
    ['T', 'section: A', 'section: B', 'step: C', 'warning: level_skipped nodes/0'],
  ],
  [
    'a fourth level in the text',
    '# T\n\n## A\n\n### B\n\n#### C\n\n##### D',
    ['T', 'section: A', 'step: B', 'sub_step: C', '| heading{"level":1}[D]'],
  ],
  [
    'headings in the text of a node',
    '# T\n\n## A\n\n### B #\n\n#### C \\# #\n\n### D\n\n###### E #\n\n### F ###\n\n## G #',
    [
      ...['T', 'section: A', '| heading{"level":1}[B]', '| heading{"level":2}[C #]', 'step: D'],
      ...['| heading{"level":3}[E]', 'step: F', 'section: G'],
    ],
  ],
  [
    'years',
    '# T\n\n## 2024 Results\n\n## 2025 Results',
    ['T', 'section: 2024 Results', 'section: 2025 Results'],
  ],
  ['one title without a number', '# T\n\n## 1. A\n\n## B', ['T', 'section: 1. A', 'section: B']],
  [
    'numbers of all titles',
    '# T\n\n## 1 A\n\n### 1.1 B\n\n## 2 C',
    ['T', 'section: A', 'step: B', 'section: C', 'warning: numbers_removed', 'warning: numbers_removed'],
  ],
  [
    'quantities',
    '# T\n\n## 2.5 mm drill\n\n## 1.5 mm drill\n\n### 1.5 ton crane inspection',
    ['T', 'section: 2.5 mm drill', 'section: 1.5 mm drill', 'step: 1.5 ton crane inspection'],
  ],
  [
    'numbers that increase',
    '# T\n\n## 1.9 A\n\n## 1.10 B\n\n## 2.1 C',
    ['T', 'section: A', 'section: B', 'section: C', 'warning: numbers_removed'],
  ],
  ['one title with a marked number', '# T\n\n## 1. A', ['T', 'section: A', 'warning: numbers_removed']],
  ['marks in a title', '# **T** `x`\n\n## A *b*', ['T x', 'section: A b']],
  [
    'escaped addresses',
    [
      '# T\n\nhttps\\://a.example, \\<https://b.example> www\\.c.example d\\@e.example \\<f@g.example> \\<mailto:a@b.example> http:\\/\\/m.example',
      'https&#58;//h.example a&#46;b@i.example &#49;www.j.example [k\\]](https\\://l.example "\\<m\\>") \\*https://n.example',
      '![o\\_](https\\://p.example/\\_.png)',
    ].join('\n\n'),
    [
      'T',
      'section: Introduction',
      '| paragraph[https://a.example, <https://b.example> www.c.example d@e.example <f@g.example> <mailto:a@b.example> http://m.example]',
      '| paragraph[https://h.example a. link<mailto:b@i.example>(b@i.example)  1www.j.example  link<https://l.example/>(k])  * link<https://n.example/>(https://n.example)]',
      '| image{"src":"https://p.example/_.png","alt":"o_"}[]',
      'warning: picture_remote nodes/0',
    ],
  ],
  [
    'addresses beside other text and markup',
    '# T\n\na_b@c.example &nbsp;https://d.example **https://e.example** [f https://g.example]\n\n\\<[h](https://i.example)> \\<<https://j.example>',
    [
      'T',
      'section: Introduction',
      '| paragraph[link<mailto:a_b@c.example>(a_b@c.example)  \u00a0 link<https://d.example/>(https://d.example)   link<https://e.example/>(bold(https://e.example))  [f  link<https://g.example/>(https://g.example) ]]',
      '| paragraph[< link<https://i.example/>(h) > < link<https://j.example/>(https://j.example)]',
    ],
  ],
  [
    'addresses beside escapes that are not theirs',
    '# T\n\n\\(https://a.example b\\*https://c.example &gt;https://d.example x&amp;www.e.example f\\_g@h.example',
    [
      'T',
      'section: Introduction',
      '| paragraph[( link<https://a.example/>(https://a.example)  b* link<https://c.example/>(https://c.example)  > link<https://d.example/>(https://d.example)  x& link<http://www.e.example/>(www.e.example)   link<mailto:f_g@h.example>(f_g@h.example)]',
    ],
  ],
  [
    'quotes that begin like an alert',
    ['\\[!note]', '[\\!note]', '[!note\\]', '&#91;!note]', '[!note]']
      .map((mark) => `> ${mark}\n> a\n\nb`)
      .join('\n\n')
      .replace(/^/, '# T\n\n'),
    [
      ...['T', 'section: Introduction'],
      ...Array.from({ length: 4 }, () => ['| blockquote[paragraph[[!note] a]]', '| paragraph[b]']).flat(),
      ...['| callout{"kind":"note"}[paragraph[a]]', '| paragraph[b]'],
    ],
  ],
  [
    'HTML around text',
    '# T\n\nsee <a href="https://x.example/" title=">">the *link*</a> and <B class="x">bold</B> <b>c <a id="d"> e</b> f',
    [
      ...['T', 'section: Introduction'],
      '| paragraph[see  link<https://x.example/>(the ) italic(link<https://x.example/>(link))  and  bold(bold)   bold(c e)  f]',
    ],
  ],
  [
    'HTML around a picture and text',
    '# T\n\n<a href="https://x.example/">\n\n![a](https://x.example/a.png)\n\n</a>\n\n<a name="b"/>c <span hidden>d</span>',
    [
      ...['T', 'section: Introduction'],
      '| link<https://x.example/>(image{"src":"https://x.example/a.png","alt":"a"}[])',
      ...['| paragraph[c]', 'warning: picture_remote nodes/0'],
    ],
  ],
  [
    'HTML that is open before a heading',
    '# T\n\n<a href="https://x.example/">\n\na\n\n## A\n\nb',
    [
      'T',
      'section: Introduction',
      '| paragraph[link<https://x.example/>(a)]',
      'section: A',
      '| paragraph[b]',
    ],
  ],
  [
    'a table without texts in its header',
    '# T\n\n| | |\n| --- | --- |\n| a | b |\n\n| | c |\n| --- | --- |\n| d | |\n\n| |\n| --- |\n',
    [
      ...['T', 'section: Introduction'],
      '| table[tableRow[tableCell[paragraph[a]] tableCell[paragraph[b]]]]',
      '| table[tableRow[tableHeader[paragraph[]] tableHeader[paragraph[c]]] tableRow[tableCell[paragraph[d]] tableCell[paragraph[]]]]',
      '| table[tableRow[tableHeader[paragraph[]]]]',
    ],
  ],
  [
    'placeholders',
    '# T\n\n## Enter <name>\n\nEnter <name> and <serial-no> of <your team>, then *<time>* <br> OK\n\n- a <date> b\n- <f-g>\n\n| c <d> |\n| --- |\n| `<e>` |\n\n<code>\n\nf\n\n<p>g <h></p>',
    [
      ...['T', 'section: Enter <name>'],
      '| paragraph[Enter <name> and <serial-no> of <your team>, then  italic(<time>) hardBreak[] OK]',
      '| bulletList[listItem[paragraph[a <date> b]] listItem[paragraph[<f-g>]]]',
      '| table[tableRow[tableHeader[paragraph[c <d>]]] tableRow[tableCell[paragraph[code(<e>)]]]]',
      ...['| paragraph[code(f)]', '| paragraph[code(g <h>)]'],
    ],
  ],
  [
    'elements that are no placeholders',
    '# T\n\na <my-tag>b</my-tag> c <x y="z"> d <!-- <e> -->',
    ['T', 'section: Introduction', '| paragraph[a b c d]'],
  ],
  [
    'a table of HTML with empty lines',
    '# T\n\n<table>\n<tr><td>a</td></tr>\n\n<tr><td>\n\n**b** <sub>c</sub>\n\n- d\n\n</td></tr>\n\n</table>\n\ne',
    [
      ...['T', 'section: Introduction'],
      '| table[tableRow[tableCell[paragraph[a]]] tableRow[tableCell[paragraph[bold(b)   subscript(c)] bulletList[listItem[paragraph[d]]]]]]',
      '| paragraph[e]',
    ],
  ],
  [
    'text between the rows of a table of HTML',
    '# T\n\n<table>\n<tr><td>a</td></tr>\n\nb\n\n<tr><td>c</td></tr></table>',
    [
      ...['T', 'section: Introduction', '| paragraph[b]'],
      '| table[tableRow[tableCell[paragraph[a]]] tableRow[tableCell[paragraph[c]]]]',
    ],
  ],
  [
    'a table of HTML without an end before a heading',
    '# T\n\n<table>\n<tr><td>a</td></tr>\n\n## A\n\n<table><tr><td>\n\nb\n\n</td></tr></table>',
    [
      ...['T', 'section: Introduction', '| table[tableRow[tableCell[paragraph[a]]]]'],
      ...['section: A', '| table[tableRow[tableCell[paragraph[b]]]]'],
    ],
  ],
  [
    'HTML with an unsafe link',
    '# T\n\n<a href="javascript:alert(1)">a</a>',
    ['T', 'section: Introduction', '| paragraph[a]', 'dropped: unsafe_link 1'],
  ],
  ['a line of facts', '# T\n\nVersion 2 · Department A · B', ['T | version 2 | department A · B']],
  [
    'facts with addresses',
    '# T\n\nVersion www.example.com · Department qa@example.com and https://a.example/ä?b&c · Approved 2026-01-02',
    ['T | version www.example.com | department qa@example.com and https://a.example/ä?b&c'],
  ],
  [
    'facts with a link',
    '# T\n\nVersion [2](https://a.example)',
    ['T', 'section: Introduction', '| paragraph[Version  link<https://a.example/>(2)]'],
  ],
  ['an anchor before the title', '<a name="top"></a>\n\n# T\n\n## A', ['T', 'section: A']],
  ['an anchor before a line of facts', '<a name="top"></a>\n\n# T\n\nVersion 2', ['T | version 2']],
  ['a number of a version', '# T\n\nVersion v2.1-rc', ['T | version v2.1-rc']],
  ['a marked version', '# T\n\nVersion\u00a02 · of\u00a0it', ['T | version 2 · of\u00a0it']],
  [
    'a marked department like several facts',
    '# T\n\nDepartment&nbsp;A · Approved 2026-01-02',
    ['T | department A · Approved 2026-01-02'],
  ],
  ['a marked day', '# T\n\nApproved\u00a02026-01-02', ['T']],
  ...[
    'Version control is our most important tool.',
    'Version 2 of it',
    'Version\u2003x',
    'Department managers approve all changes',
    'Department 7',
    'Approved 2026-01-02',
    'Approved\u00a0today',
    'Version · Department A',
    'Versions 1 · Department A',
  ].map((prose): [string, string, string[]] => [
    `prose like facts: ${prose}`,
    `# T\n\n${prose}\n\n## A`,
    ['T', 'section: Introduction', `| paragraph[${prose}]`, 'section: A'],
  ]),
  [
    'facts with marks',
    '# T\n\n**Version 2**',
    ['T', 'section: Introduction', '| paragraph[bold(Version 2)]'],
  ],
  [
    'front matter with facts',
    '\uFEFF---\r\ntitle: "A: b"\r\nversion: 1.10\r\ndepartment: [x]\r\n---\r\n## A',
    ['A: b | version 1.10', 'section: A', 'dropped: front_matter 1'],
  ],
  [
    'front matter with half of a character',
    '---\ntitle: "A\\ud83d"\n---\n',
    ['A\ufffd', 'dropped: front_matter 1'],
  ],
  [
    'front matter beside a title and a line of facts',
    '---\ntitle: x\nversion: 1\ndepartment: D\n---\n# T\n\nVersion 2',
    ['T | version 2 | department D', 'dropped: front_matter 1'],
  ],
  [
    'front matter without a title',
    '---\nid: 7\n---\n',
    ['my file', 'dropped: front_matter 1', 'warning: no_headings'],
  ],
  [
    'lines instead of front matter',
    '---\na\n\n---\n# T',
    ['T', 'section: Introduction', '| horizontalRule[]', '| paragraph[a]', '| horizontalRule[]'],
  ],
  [
    'front matter with a second part',
    '---\ntitle: x\n--- y\n---\n# T',
    [
      'my file',
      'section: Introduction',
      '| horizontalRule[]',
      'step: title: x --- y',
      'section: T',
      'warning: front_matter_invalid',
    ],
  ],
  [
    'front matter that is not YAML',
    '---\ntitle: "a\n---\n# T',
    [
      'my file',
      'section: Introduction',
      '| horizontalRule[]',
      'step: title: "a',
      'section: T',
      'warning: front_matter_invalid',
    ],
  ],
])('a Markdown file is split: %s', async (_name, text, expected) => {
  expect(await outline(text)).toEqual(expected);
});

test.each<[string, string, string[]]>([
  ['no head', '<h1>T</h1><h2>A</h2><p>x</p>', ['T', 'section: A', '| paragraph[x]']],
  [
    'a head',
    '<html><head><title>x</title><script>x</script></head><body><h1>T</h1><h2>A</h2></body></html>',
    ['T', 'section: A'],
  ],
  [
    'a script and no text',
    '<body><script>x</script><div><button>x</button></div><p>&#32;<br></p><h1>T</h1><h2>A</h2></body>',
    ['T', 'section: A', 'dropped: script 1', 'dropped: form_control 1'],
  ],
  [
    'a script and text',
    '<div><script>x</script>y</div><h1>T</h1><h2>A</h2>',
    ['T', 'section: Introduction', '| paragraph[y]', 'section: A', 'dropped: script 1'],
  ],
  [
    'a picture',
    '<p><img src="a.png"></p><h1>T</h1><h2>A</h2>',
    [
      ...['T', 'section: Introduction', '| paragraph[[picture]]', 'section: A'],
      'warning: picture_missing nodes/0',
    ],
  ],
  [
    'a frame alone',
    '<body><iframe src="a.html"></iframe></body>',
    ['my file', 'dropped: embedded_content 1', 'warning: no_headings'],
  ],
])('HTML has an introduction only for content: %s', async (_name, text, expected) => {
  expect(await outline(text, 'my file.html')).toEqual(expected);
});

test.each<[string, string, string[]]>([
  [
    'of a heading, formatted',
    '# T\n\n## *A[^1]*\n\ntext\n\n[^1]: The note',
    ['T', 'section: A', '| paragraph[text]', '| orderedList[listItem[paragraph[The note]]]'],
  ],
  [
    'of the title, before facts',
    '# T[^1]\n\nVersion 2\n\n## A\n\n[^1]: The note',
    ['T | version 2', 'section: Introduction', '| orderedList[listItem[paragraph[The note]]]', 'section: A'],
  ],
  ['of the title, missing', '# T<sup><a href="#x">1</a></sup>\n\n## A', ['T', 'section: A']],
  [
    'of a heading with a picture',
    '# T\n\n## A ![a](https://a.example/a.png) [^1]\n\n[^1]: The note',
    [
      ...['T', 'section: A', '| image{"src":"https://a.example/a.png","alt":"a"}[]'],
      ...['| orderedList[listItem[paragraph[The note]]]', 'warning: picture_remote nodes/0'],
    ],
  ],
  [
    'of a note',
    '# T\n\n## A\n\ntext[^1]\n\n## B\n\n[^1]: See also[^2]\n\n[^2]: Second note',
    [
      ...['T', 'section: A', '| paragraph[text superscript(1)]'],
      '| orderedList[listItem[paragraph[See also superscript(2)]] listItem[paragraph[Second note]]]',
      'section: B',
    ],
  ],
  [
    'of notes that refer to each other',
    '# T\n\n## A\n\ntext[^1]\n\n[^1]: One[^2]\n\n[^2]: Two[^1] and[^2]',
    [
      ...['T', 'section: A', '| paragraph[text superscript(1)]'],
      '| orderedList[listItem[paragraph[One superscript(2)]] listItem[paragraph[Two superscript(1)  and superscript(2)]]]',
    ],
  ],
])('a note is kept: %s', async (_name, text, expected) => {
  expect(await outline(text)).toEqual(expected);
});

test('a title over 300 characters is cut and repeated in the text', async () => {
  const title = 'word '.repeat(80).trim();
  const result = await convert(`# T\n\n## ${title}\n`);
  const [node] = (result.ok && result.file.documents[0]?.nodes) || [];
  expect(node?.title).toMatch(/^(word )+word…$/);
  expect(node?.title.length).toBeLessThanOrEqual(300);
  expect(node?.content).toContain(title);
});

test('a title of front matter over 300 characters is cut and repeated', async () => {
  const title = 'word '.repeat(80).trim();
  const lines = await outline(`---\ntitle: ${title}\n---\n`);
  expect(lines).toEqual([
    expect.stringMatching(/^(word )+word…$/),
    'section: Introduction',
    `| paragraph[${title}]`,
    'dropped: front_matter 1',
    'warning: title_cut',
  ]);
});

test('a deep list causes one warning', async () => {
  const list = Array.from({ length: 120 }, (_, depth) => `${'  '.repeat(depth)}- ${depth}`).join('\n');
  const result = await convert(list, 'a.md');
  const warnings = result.ok ? result.file.report.warnings : [];
  expect(warnings.map(({ code }) => code).toSorted()).toEqual(['flattened', 'no_headings']);
});

test('the warning about a missing picture names its file', async () => {
  const page = '![Valve](img/valve.png)';
  for (const [file, name] of [
    [page, 'a.md'],
    [zip([{ name: 'a.md', data: page }]), 'a.zip'],
  ] as const) {
    const result = await convert(file, name);
    const warnings = result.ok ? result.file.report.warnings : [];
    const [warning] = warnings.filter(({ code }) => code === 'picture_missing');
    expect(warning?.message).toContain('img/valve.png');
  }
});

test('at most 200 warnings are listed, and one says how many are not', async () => {
  const result = await convert(`# T\n\n${'![a](b.png)\n\n'.repeat(maxWarnings + 5)}`);
  const warnings = result.ok ? result.file.report.warnings : [];
  expect(warnings).toHaveLength(maxWarnings + 1);
  expect(warnings.at(-1)).toMatchObject({ code: 'more_warnings', message: 'More warnings: 5.' });
});

test('pictures of a zip are found by their paths, equal ones are one asset', async () => {
  const png = encodePng(2, 2, () => [1, 2, 3, 255]);
  const text =
    '# T\n\n## A\n\n![a](img/a%20b.png)\n\n![b](/docs/img/a%20b.png)\n\n![c](../c.png)\n\n![d](img/d.png)\n';
  const file = zip([
    { name: 'docs/sop.md', data: text },
    { name: 'docs/img/a b.png', data: png },
    { name: 'c.png', data: png },
    { name: '__MACOSX/docs/._sop.md', data: 'x' },
  ]);
  const result = await convert(file, 'a.zip');
  expect(result).toMatchObject({ ok: true, file: { report: { format: 'zip', pictures: 1 } } });
  expect(await outline(file, 'a.zip')).toEqual([
    ...['T', 'section: A'],
    ...['a', 'b', 'c'].map((alt) => expect.stringMatching(`^\\| image.*"alt":"${alt}"`)),
    '| paragraph[[picture: d]]',
    'warning: picture_missing nodes/0',
  ]);
});

test.each([
  [
    'a Word file',
    [
      { name: 'sop.md', data: '# T' },
      { name: 'template.docx', data: docx(p('a')), method: 0 },
    ],
  ],
  [
    'the name of one of its parts',
    [{ name: 'sop.md', data: '# T\n\nVersion [Content_Types].xml', method: 0 }],
  ],
])('a zip that contains %s is not a Word file', async (_name, entries) => {
  expect(await convert(zip(entries), 'a.zip')).toMatchObject({
    ok: true,
    file: { report: { format: 'zip' }, documents: [{ title: 'T' }] },
  });
});

test('a Word file is recognized by its directory, and a damaged one too', async () => {
  expect(await convert(docx(p('a')), 'a.zip')).toMatchObject({
    ok: true,
    file: { report: { format: 'docx' } },
  });
  expect(await convert(docx(p('a')).subarray(0, -40), 'a.docx')).toMatchObject({
    fault: { reason: 'malformed', message: expect.stringContaining('in Word') },
  });
});
