/** Hostile files for imports: they take excessive memory or time to read, or reach for something outside. */
import { createHash, randomBytes } from 'node:crypto';
import { docx, type Entry, p, parts, rels, types, W, WORD_TYPE, zip } from '../word/samples.ts';

/** A hostile file; `verdict` is the reason or the limit of its rejection, or "accepted". */
export interface ImportAttack {
  name: string;
  fileName: string;
  verdict: string;
  create(): Uint8Array;
}

const MIB = 1024 * 1024;
const attack = (
  name: string,
  fileName: string,
  verdict: string,
  create: () => string | Uint8Array,
): ImportAttack => ({
  ...{ name, fileName, verdict },
  create: () => Buffer.from(create() as string),
});
const word = (name: string, verdict: string, create: () => Uint8Array) =>
  attack(name, 'a.docx', verdict, create);
const markdown = (name: string, verdict: string, create: () => string | Uint8Array) =>
  attack(name, 'a.md', verdict, create);
const html = (name: string, verdict: string, create: () => string) => attack(name, 'a.html', verdict, create);
const archive = (name: string, verdict: string, entries: () => Entry[]) =>
  attack(name, 'a.zip', verdict, () => zip(entries()));

const repeat = (count: number, create: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => create(index)).join('');
const mainType = (type: string) => ({ '[Content_Types].xml': types({ '/word/document.xml': type }) });
const withPart = (kind: 'styles' | 'numbering', xml: string, body = p('a')) =>
  docx(body, {
    '[Content_Types].xml': types({ [`/word/${kind}.xml`]: `${WORD_TYPE}.${kind}+xml` }),
    'word/_rels/document.xml.rels': rels(['r', kind, `${kind}.xml`]),
    [`word/${kind}.xml`]: xml,
  });
const oldWord = (stream: string) =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from(stream, 'utf16le'), Buffer.alloc(512)]);
const nest = (count: number, open: string, inner: string, close: string) =>
  `${open.repeat(count)}${inner}${close.repeat(count)}`;
const frontMatter = (yaml: string) => `---\n${yaml}\n---\n# T\n`;
const hugeGif = Buffer.from('47494638396160ea60ea800000000000ffffff2c00000000010001000002024401003b', 'hex');

const words: ImportAttack[] = [
  word('a Word file with 60 MiB of zeros', 'bomb', () =>
    zip([...parts(p('a')), { name: 'a', data: Buffer.alloc(60 * MIB) }]),
  ),
  word('a Word file of 110 MiB in 110 parts', 'bomb', () =>
    zip([
      ...parts(p('a')),
      ...Array.from({ length: 110 }, (_, at) => ({ name: `${at}`, data: Buffer.alloc(MIB) })),
    ]),
  ),
  word('a Word file whose parts overlap', 'malformed', () =>
    zip([
      ...parts(p('a')),
      { name: 'word/b.xml', data: '<a/>' },
      { name: 'word/b.xm2', data: '<a/>', sharesBytesOf: 3 },
    ]),
  ),
  word('a DOCTYPE in a main part with another name', 'malformed', () =>
    zip(
      parts('', {
        '[Content_Types].xml': types({ '/word/a.bin': `${WORD_TYPE}.document.main+xml` }),
        '_rels/.rels': rels(['r', 'officeDocument', 'word/a.bin']),
        'word/a.bin': `<!DOCTYPE a [<!ENTITY b "c">]><w:document xmlns:w="${W}"><w:body>${p('&b;')}</w:body></w:document>`,
      }),
    ),
  ),
  word('a DOCTYPE in the styles', 'malformed', () => withPart('styles', '<!DOCTYPE a><a/>')),
  word('one run of 16 MiB', 'content_too_large', () => docx(p(randomBytes(12 * MIB).toString('base64')))),
  word('a chain of 25,000 styles that ends in itself', 'accepted', () =>
    withPart(
      'styles',
      `<w:styles xmlns:w="${W}">${repeat(25_000, (at) => `<w:style w:type="paragraph" w:styleId="s${at}"><w:basedOn w:val="s${(at + 1) % 25_000}"/></w:style>`)}</w:styles>`,
      repeat(1_000, (at) => p('a', `<w:pStyle w:val="s${at}"/>`)),
    ),
  ),
  word('lists that refer to each other', 'accepted', () =>
    withPart(
      'numbering',
      `<w:numbering xmlns:w="${W}"><w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="a"/></w:abstractNum><w:abstractNum w:abstractNumId="2"><w:styleLink w:val="a"/><w:numStyleLink w:val="a"/></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
      p('a', '<w:numPr><w:numId w:val="1"/></w:numPr>'),
    ),
  ),
  word('a list with the number 10^12', 'accepted', () =>
    withPart(
      'numbering',
      `<w:numbering xmlns:w="${W}"><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="99999999"/><w:lvl w:ilvl="0"><w:start w:val="1000000000000"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
      p('a', '<w:numPr><w:ilvl w:val="99999999"/><w:numId w:val="1"/></w:numPr>'),
    ),
  ),
  word('tables in 80 tables', 'accepted', () =>
    docx(nest(80, '<w:tbl><w:tr><w:tc>', p('a'), '</w:tc></w:tr></w:tbl>')),
  ),
  word('25,000 fields without an end', 'accepted', () =>
    zip(
      parts(repeat(25_000, () => '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>')).map(
        (entry) => ({
          ...entry,
          method: 0,
        }),
      ),
    ),
  ),
  word('a file with macros', 'macros', () => docx(p('a'), { 'word/vbaProject.bin': 'x' })),
  word('a .docm with another name', 'macros', () =>
    docx(p('a'), mainType('application/vnd.ms-word.document.macroEnabled.main+xml')),
  ),
  word('a password-protected file', 'password_protected', () => oldWord('EncryptedPackage')),
  word('a .doc file', 'legacy_doc', () => oldWord('WordDocument')),
  word('an Excel workbook', 'unknown_format', () =>
    docx(p('a'), mainType('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml')),
  ),
  word('a truncated file', 'malformed', () => docx(p('a')).subarray(0, -40)),
];

const texts: ImportAttack[] = [
  markdown('100,000 nested quotes', 'malformed', () => `${'>'.repeat(100_000)} a`),
  markdown('5,000 nested lists', 'malformed', () => repeat(700, (at) => `${'  '.repeat(at)}- a\n`)),
  markdown('500,000 brackets', 'malformed', () => '['.repeat(500_000)),
  markdown('400,000 marks of emphasis', 'malformed', () => '*a_ '.repeat(400_000)),
  markdown('500,000 tags that do not end', 'malformed', () => '<'.repeat(500_000)),
  markdown('front matter of 30,000 nested lists', 'malformed', () =>
    frontMatter(`a: ${nest(30_000, '[', '', ']')}`),
  ),
  markdown('front matter whose anchors multiply', 'accepted', () =>
    frontMatter(repeat(9, (at) => `k${at}: &a${at} [${`${at === 0 ? 'x' : `*a${at - 1}`},`.repeat(9)}]\n`)),
  ),
  markdown('100,000 open elements of HTML', 'malformed', () => '<div>\n\n'.repeat(100_000)),
  markdown('30,000 headings', 'too_many_nodes', () => '# a\n\n'.repeat(30_000)),
  markdown('one word of 1.9 MiB', 'content_too_large', () => 'a'.repeat(1.9 * MIB)),
  markdown(
    'a picture of 60,000 by 60,000 pixels',
    'accepted',
    () => `![a](data:image/gif;base64,${hugeGif.toString('base64')})`,
  ),
  markdown('Latin-1 text', 'not_utf8', () => Buffer.from('# Prüfung', 'latin1')),
  markdown('UTF-16 text', 'not_utf8', () => Buffer.from('\ufeff# Prüfung', 'utf16le')),
  html('200,000 nested elements', 'malformed', () => '<div>'.repeat(200_000)),
  html(
    'open formatting that each block repeats',
    'malformed',
    () => repeat(5_000, (at) => `<b id="${at}">`) + '<p>a'.repeat(100_000),
  ),
  html(
    'open formatting between marks of a comment in a text field',
    'malformed',
    () =>
      `<textarea><!--</textarea>${repeat(5_000, (at) => `<b id="${at}">`)}${'<p>a'.repeat(100_000)}<i>--></i>`,
  ),
  html('20,000 lists in lists', 'malformed', () => '<ul><li>'.repeat(20_000)),
  html('300,000 attributes', 'accepted', () => `<p ${repeat(150_000, (at) => `a${at}=1 `)}>a</p>`),
  html('scripts, forms and data: pages', 'accepted', () =>
    '<script>while(1);</script><form action="https://evil.example"><input></form><iframe src="data:text/html,a"></iframe><a href="data:text/html,a">a</a>'.repeat(
      1_000,
    ),
  ),
  archive('a zip with a path that leads out', 'malformed', () => [{ name: '../a.md', data: '# a' }]),
  archive('a zip with two documents', 'several_documents', () => [
    { name: 'a.md', data: '# a' },
    { name: 'b.html', data: '<h1>b</h1>' },
  ]),
  archive('a zip without a document', 'unknown_format', () => [{ name: 'a.exe', data: 'MZ' }]),
  archive('a zip with a manifest of something else', 'bad_manifest', () => [
    { name: 'manifest.json', data: '{}' },
  ]),
  archive('a zip with 60 MiB of zeros as a picture', 'bomb', () => [
    { name: 'a.md', data: '![](a.png)' },
    { name: 'a.png', data: Buffer.alloc(60 * MIB) },
  ]),
  archive('a zip with an encrypted entry', 'password_protected', () => [
    { name: 'a.md', data: '# a', flags: 1 },
  ]),
];

const libraryId = '01a20c95-77f3-77bb-8eb4-65b6788708f8';
const manifest = (documents: object[], assets: object[] = []) => ({
  name: 'manifest.json',
  method: 0,
  data: JSON.stringify({ format: 'pds-library', version: 1, documents, assets }),
});
// most are not compressed: the ratio of a text that repeats itself would reject the file before it is parsed
const library = (name: string, verdict: string, json: () => string, method = 0) =>
  archive(name, verdict, () => {
    const path = `documents/${libraryId}/document.json`;
    return [{ name: path, data: json(), method }, manifest([{ path, id: libraryId }])];
  });
const deep = (depth: number) => nest(depth, '{"type":"doc","content":[', '{"type":"doc"}', ']}');

const libraries: ImportAttack[] = [
  library('a library with a million nested lists', 'malformed', () => nest(1_000_000, '[', '', ']')),
  library('a library whose text has 100,000 levels', 'malformed', () =>
    JSON.stringify({ title: 'a', nodes: [{ node_type: 'section', title: 'a', content: {} }] }).replace(
      '{}',
      deep(100_000),
    ),
  ),
  library(
    'a library with a tree of 10,000 levels',
    'malformed',
    () =>
      `{"title":"a","nodes":${nest(10_000, '[{"node_type":"section","title":"a","children":', '[]', '}]')}}`,
  ),
  library('a library with 300,000 unknown fields', 'malformed', () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`field ${at}`, at]))),
  ),
  library('a library with 60 MiB of text', 'bomb', () => JSON.stringify({ title: 'a'.repeat(60 * MIB) }), 8),
  archive('a library with 200,000 documents in its manifest', 'bad_manifest', () => [
    manifest(Array.from({ length: 200_000 }, () => ({ path: 'documents/a/document.json', id: libraryId }))),
  ]),
  archive('a library with a path to another file', 'bad_manifest', () => [
    manifest([{ path: '../../etc/passwd', id: libraryId }]),
  ]),
  archive('a library with a picture of 60,000 pixels a side', 'bad_manifest', () => {
    const id = createHash('sha256').update(hugeGif).digest('hex');
    const path = `assets/${id}.gif`;
    return [{ name: path, data: hugeGif }, manifest([], [{ path, id, media_type: 'image/gif' }])];
  }),
];

/** Files that were slow, large or broken in some reader, including drafts of this one. */
export const importAttacks: readonly ImportAttack[] = [...words, ...texts, ...libraries];
