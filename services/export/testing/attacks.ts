/** Uploads made to exhaust whoever reads them: small files that would take memory or time without end; for tests only. */
import { randomBytes } from 'node:crypto';
import { docx, type Entry, p, parts, rels, types, W, WORD_TYPE, zip } from './samples.ts';

/** The file, and the code of its refusal or "accepted". */
export type Attack = { name: string; verdict: string; make(): Uint8Array };

const content = p('{{content}}');
const repeat = (count: number, one: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => one(at)).join('');

/** A relationship: id, type, target, mode. */
type Link = [string, string, string, string?];
const links = (count: number, one: (at: number) => Link) =>
  rels(...Array.from({ length: count }, (_, at) => one(at)));
const mainLinks = (written: string) => ({ 'word/_rels/document.xml.rels': written });

/** The smallest Word file with this body, whose parts are stored or mixed with noise, so that no part unpacks suspiciously. */
function createFile(inner: string, more: Record<string, string> = {}): Buffer {
  const entries = parts(inner, more);
  const size = entries.reduce((sum, { data }) => sum + data.length, 0);
  if (size < 9_000_000) return zip(entries.map((entry) => ({ ...entry, method: 0 })));
  return zip([...entries.map(addNoise), { name: 'noise.png', data: randomBytes(1_000), method: 0 }]);
}

/** XML with a comment of noise in it, which keeps the ratio low. */
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
/** More than a function may be given as arguments. */
const TOO_MANY_ARGUMENTS = 130_000;
const style = (id: string, more = '') => `<w:style w:type="paragraph" w:styleId="${id}">${more}</w:style>`;
const manyParts = Object.fromEntries(Array.from({ length: 1_900 }, (_, at) => [`word/a${at}.xml`, '<a/>']));
const createZeroParts = (names: string[], size: number) =>
  zip([...parts(content), ...names.map((name) => ({ name, data: Buffer.alloc(size) }))]);
const createNames = (count: number) => Array.from({ length: count }, (_, at) => `t${at}.xml`);

/** Each was slow, large or broken in some reader, one of our own drafts among them. */
export const attacks: Attack[] = [
  {
    name: 'sixty mebibytes of nothing in two parts',
    verdict: 'bomb',
    make: () => createZeroParts(['a', 'b'], 30 * MIB),
  },
  {
    name: 'fifty parts of a mebibyte each',
    verdict: 'unpacked_too_large',
    make: () => createZeroParts(createNames(50), MIB),
  },
  {
    name: 'a bomb that says that it is small',
    verdict: 'bomb',
    make: () => zip([...parts(content), { name: 'a.bin', data: Buffer.alloc(40 * MIB), size: 10 }]),
  },
  {
    name: '1,900 parts, pointed to 25,000 times in other capitals',
    verdict: 'accepted',
    make: () =>
      createFile(content, {
        ...manyParts,
        ...mainLinks(links(MANY, (at) => [`r${at}`, 'x', `A${at % 1_900}.XML`])),
      }),
  },
  {
    name: '25,000 content types',
    verdict: 'accepted',
    make: () => {
      const names = Array.from({ length: MANY }, (_, at) => [`/word/x${at}.xml`, 'application/xml']);
      const written = links(1_900, (at) => [`r${at}`, 'x', `a${at}.xml`]);
      return createFile(content, {
        ...manyParts,
        '[Content_Types].xml': types(Object.fromEntries(names)),
        ...mainLinks(written),
      });
    },
  },
  {
    name: '25,000 links that lead outside',
    verdict: 'accepted',
    make: () =>
      createFile(content, mainLinks(links(MANY, (at) => [`r${at}`, 'hyperlink', 'file:///a', 'External']))),
  },
  {
    name: 'every name that the renderer might take',
    verdict: 'accepted',
    make: () =>
      createFile(
        content,
        mainLinks(links(MANY, (at) => [`export${at || ''}x`, 'hyperlink', 'https://a.example', 'External'])),
      ),
  },
  {
    name: 'a chain of 25,000 styles',
    verdict: 'accepted',
    make: () =>
      createFileWithPart(
        'styles',
        style('h', '<w:name w:val="heading 1"/><w:basedOn w:val="s0"/>') +
          repeat(MANY, (at) => style(`s${at}`, `<w:basedOn w:val="s${at + 1}"/>`)),
      ),
  },
  {
    name: 'every id that an added style might take',
    verdict: 'accepted',
    make: () =>
      createFileWithPart('styles', style('Heading1') + repeat(MANY, (at) => style(`Heading1${at + 2}`))),
  },
  {
    name: '130,000 lists',
    verdict: 'accepted',
    make: () =>
      createFileWithPart(
        'numbering',
        repeat(TOO_MANY_ARGUMENTS, (at) => `<w:num w:numId="${at + 1}"/>`),
      ),
  },
  {
    name: '130,000 bookmarks around {{content}}',
    verdict: 'accepted',
    make: () =>
      createFile(
        `<w:p>${'<w:bookmarkStart/>'.repeat(TOO_MANY_ARGUMENTS)}<w:r><w:t>{{content}}</w:t></w:r></w:p>`,
      ),
  },
  {
    name: '130,000 paragraphs in a content control',
    verdict: 'accepted',
    make: () =>
      createFile(
        `<w:sdt><w:sdtContent>${'<w:p/>'.repeat(TOO_MANY_ARGUMENTS)}${content}</w:sdtContent></w:sdt>`,
      ),
  },
  {
    name: 'a million placeholders',
    verdict: 'too_many_placeholders',
    make: () => createFile(p('{{title}}'.repeat(900_000)) + content),
  },
  {
    name: 'ten placeholders in each of two hundred headers',
    verdict: 'too_many_placeholders',
    make: () => {
      const names = createNames(200);
      const header = `<w:hdr xmlns:w="${W}">${p('{{title}}'.repeat(10))}</w:hdr>`;
      const typed = names.map((name) => [`/word/${name}`, `${WORD_TYPE}.header+xml`]);
      return createFile(content, {
        '[Content_Types].xml': types(Object.fromEntries(typed)),
        ...mainLinks(rels(...names.map((name): Link => [name, 'header', name]))),
        ...Object.fromEntries(names.map((name) => [`word/${name}`, header])),
      });
    },
  },
  {
    name: 'five million braces',
    verdict: 'accepted',
    make: () => createFile(p('{'.repeat(5_000_000)) + content),
  },
  {
    name: 'five million spaces in a placeholder',
    verdict: 'accepted',
    make: () => createFile(p(`{{${' '.repeat(5_000_000)}`) + content),
  },
  {
    name: '25,000 fields that never end',
    verdict: 'fields_too_deep',
    make: () =>
      createFile(`<w:p>${'<w:r><w:fldChar w:fldCharType="begin"/></w:r>'.repeat(MANY)}</w:p>${content}`),
  },
  {
    name: 'a million attributes',
    verdict: 'xml_too_large',
    make: () => createFileWithTheme(`<a ${repeat(1_000_000, (at) => `a${at}="" `)}/>`),
  },
  {
    name: '26 MiB of text',
    verdict: 'xml_too_large',
    make: () => {
      const text = Buffer.alloc(MIB - 10, 'text ').toString();
      return docx(content, {
        ...Object.fromEntries(createNames(26).map((name) => [`word/${name}`, `<a>${text}</a>`])),
        ...mainLinks(rels(...createNames(26).map((name): Link => [name, 'x', name]))),
      });
    },
  },
  {
    name: 'relationships named after what every object has',
    verdict: 'accepted',
    make: () => {
      const names = ['constructor', '__proto__', 'toString'];
      return createFile(content, {
        'word/a.bin': 'x',
        ...mainLinks(rels(...names.map((name): Link => [name, name, 'a.bin']))),
      });
    },
  },
  {
    name: 'numbers beyond all numbers',
    verdict: 'accepted',
    make: () =>
      createFile(
        `${content}<w:sectPr><w:pgSz w:w="${'9'.repeat(400)}" w:h="-5"/><w:cols w:num="99999999999"/></w:sectPr>`,
      ),
  },
];
