/** Hostile uploads for tests: small files that take excessive memory or time to read. */
import { randomBytes } from 'node:crypto';
import { docx, type Entry, p, parts, rels, types, W, WORD_TYPE, zip } from './samples.ts';

/** A hostile file; `verdict` is the fault code of its rejection, or "accepted". */
export type Attack = { name: string; verdict: string; create(): Uint8Array };

const content = p('{{content}}');
const repeat = (count: number, create: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => create(index)).join('');

/** A relationship: id, type, target, mode. */
type Link = [string, string, string, string?];
const links = (count: number, create: (index: number) => Link) =>
  rels(...Array.from({ length: count }, (_, index) => create(index)));
const mainLinks = (markup: string) => ({ 'word/_rels/document.xml.rels': markup });

/** Creates a minimal Word file; parts are stored or contain noise, so that the ratio check accepts them. */
function createFile(inner: string, more: Record<string, string> = {}): Buffer {
  const entries = parts(inner, more);
  const size = entries.reduce((sum, { data }) => sum + data.length, 0);
  if (size < 9_000_000) return zip(entries.map((entry) => ({ ...entry, method: 0 })));
  return zip([...entries.map(addNoise), { name: 'noise.png', data: randomBytes(1_000), method: 0 }]);
}

/** Adds a comment with random data, which keeps the compression ratio low. */
function addNoise(entry: Entry): Entry {
  if (entry.data.length < 1_000_000) return entry;
  const noise = randomBytes(Math.ceil(entry.data.length / 300)).toString('hex');
  return { ...entry, data: `${entry.data}<!--${noise}-->` };
}

function createFileWithPart(kind: 'styles' | 'numbering', inner: string): Buffer {
  return createFile(content, {
    '[Content_Types].xml': types({ [`/word/${kind}.xml`]: `${WORD_TYPE}.${kind}+xml` }),
    'word/_rels/document.xml.rels': rels(['rId1', kind, `${kind}.xml`]),
    [`word/${kind}.xml`]: `<w:${kind} xmlns:w="${W}">${inner}</w:${kind}>`,
  });
}

function createFileWithTheme(xml: string): Buffer {
  return createFile(content, {
    'word/theme.xml': xml,
    'word/_rels/document.xml.rels': rels(['rIdT', 'theme', 'theme.xml']),
  });
}

const MIB = 1024 * 1024;
const MANY = 25_000;
/** More than the maximum number of function arguments. */
const TOO_MANY_ARGUMENTS = 130_000;
const style = (id: string, more = '') => `<w:style w:type="paragraph" w:styleId="${id}">${more}</w:style>`;
const manyParts = Object.fromEntries(Array.from({ length: 1_900 }, (_, at) => [`word/a${at}.xml`, '<a/>']));
const createZeroParts = (names: string[], size: number) =>
  zip([...parts(content), ...names.map((name) => ({ name, data: Buffer.alloc(size) }))]);
const createNames = (count: number) => Array.from({ length: count }, (_, at) => `t${at}.xml`);

/** Files that were slow, large or broken in some reader, including drafts of this one. */
export const attacks: Attack[] = [
  {
    name: '60 MiB of zeros in two parts',
    verdict: 'bomb',
    create: () => createZeroParts(['a', 'b'], 30 * MIB),
  },
  {
    name: 'fifty parts of a mebibyte each',
    verdict: 'unpacked_too_large',
    create: () => createZeroParts(createNames(50), MIB),
  },
  {
    name: 'a bomb that declares a small size',
    verdict: 'bomb',
    create: () => zip([...parts(content), { name: 'a.bin', data: Buffer.alloc(40 * MIB), size: 10 }]),
  },
  {
    name: '25,000 relationships to 1,900 parts in other case',
    verdict: 'accepted',
    create: () =>
      createFile(content, {
        ...manyParts,
        ...mainLinks(links(MANY, (at) => [`r${at}`, 'x', `A${at % 1_900}.XML`])),
      }),
  },
  {
    name: '25,000 content types',
    verdict: 'accepted',
    create: () => {
      const names = Array.from({ length: MANY }, (_, at) => [`/word/x${at}.xml`, 'application/xml']);
      const relationships = links(1_900, (at) => [`r${at}`, 'x', `a${at}.xml`]);
      return createFile(content, {
        ...manyParts,
        '[Content_Types].xml': types(Object.fromEntries(names)),
        ...mainLinks(relationships),
      });
    },
  },
  {
    name: '25,000 links to files outside',
    verdict: 'accepted',
    create: () =>
      createFile(content, mainLinks(links(MANY, (at) => [`r${at}`, 'hyperlink', 'file:///a', 'External']))),
  },
  {
    name: 'every name that the renderer might use',
    verdict: 'accepted',
    create: () =>
      createFile(
        content,
        mainLinks(links(MANY, (at) => [`export${at || ''}x`, 'hyperlink', 'https://a.example', 'External'])),
      ),
  },
  {
    name: 'a chain of 25,000 styles',
    verdict: 'accepted',
    create: () =>
      createFileWithPart(
        'styles',
        style('h', '<w:name w:val="heading 1"/><w:basedOn w:val="s0"/>') +
          repeat(MANY, (at) => style(`s${at}`, `<w:basedOn w:val="s${at + 1}"/>`)),
      ),
  },
  {
    name: 'every id that an added style might use',
    verdict: 'accepted',
    create: () =>
      createFileWithPart('styles', style('Heading1') + repeat(MANY, (at) => style(`Heading1${at + 2}`))),
  },
  {
    name: '130,000 lists',
    verdict: 'accepted',
    create: () =>
      createFileWithPart(
        'numbering',
        repeat(TOO_MANY_ARGUMENTS, (at) => `<w:num w:numId="${at + 1}"/>`),
      ),
  },
  {
    name: '130,000 bookmarks around {{content}}',
    verdict: 'accepted',
    create: () =>
      createFile(
        `<w:p>${'<w:bookmarkStart/>'.repeat(TOO_MANY_ARGUMENTS)}<w:r><w:t>{{content}}</w:t></w:r></w:p>`,
      ),
  },
  {
    name: '130,000 paragraphs in a content control',
    verdict: 'accepted',
    create: () =>
      createFile(
        `<w:sdt><w:sdtContent>${'<w:p/>'.repeat(TOO_MANY_ARGUMENTS)}${content}</w:sdtContent></w:sdt>`,
      ),
  },
  {
    name: 'a million placeholders',
    verdict: 'too_many_placeholders',
    create: () => createFile(p('{{title}}'.repeat(900_000)) + content),
  },
  {
    name: 'ten placeholders in each of two hundred headers',
    verdict: 'too_many_placeholders',
    create: () => {
      const names = createNames(200);
      const header = `<w:hdr xmlns:w="${W}">${p('{{title}}'.repeat(10))}</w:hdr>`;
      const overrides = names.map((name) => [`/word/${name}`, `${WORD_TYPE}.header+xml`]);
      return createFile(content, {
        '[Content_Types].xml': types(Object.fromEntries(overrides)),
        ...mainLinks(rels(...names.map((name): Link => [name, 'header', name]))),
        ...Object.fromEntries(names.map((name) => [`word/${name}`, header])),
      });
    },
  },
  {
    name: 'five million braces',
    verdict: 'accepted',
    create: () => createFile(p('{'.repeat(5_000_000)) + content),
  },
  {
    name: 'five million spaces in a placeholder',
    verdict: 'accepted',
    create: () => createFile(p(`{{${' '.repeat(5_000_000)}`) + content),
  },
  {
    name: '25,000 fields without an end',
    verdict: 'fields_too_deep',
    create: () =>
      createFile(`<w:p>${'<w:r><w:fldChar w:fldCharType="begin"/></w:r>'.repeat(MANY)}</w:p>${content}`),
  },
  {
    name: 'a million attributes',
    verdict: 'xml_too_large',
    create: () => createFileWithTheme(`<a ${repeat(1_000_000, (at) => `a${at}="" `)}/>`),
  },
  {
    name: '26 MiB of text',
    verdict: 'xml_too_large',
    create: () => {
      const text = Buffer.alloc(MIB - 10, 'text ').toString();
      return docx(content, {
        ...Object.fromEntries(createNames(26).map((name) => [`word/${name}`, `<a>${text}</a>`])),
        ...mainLinks(rels(...createNames(26).map((name): Link => [name, 'x', name]))),
      });
    },
  },
  {
    name: 'relationships named like properties of every object',
    verdict: 'accepted',
    create: () => {
      const names = ['constructor', '__proto__', 'toString'];
      return createFile(content, {
        'word/a.bin': 'x',
        ...mainLinks(rels(...names.map((name): Link => [name, name, 'a.bin']))),
      });
    },
  },
  {
    name: 'numbers that are too large',
    verdict: 'accepted',
    create: () =>
      createFile(
        `${content}<w:sectPr><w:pgSz w:w="${'9'.repeat(400)}" w:h="-5"/><w:cols w:num="99999999999"/></w:sectPr>`,
      ),
  },
];
