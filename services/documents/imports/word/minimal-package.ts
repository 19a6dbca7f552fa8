/** Writes the package that mammoth reads: the checked content of a Word file and nothing else. */
import { escapeXml, pack } from '#libs/opc';

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006';
const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const namespaces = [
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
  `xmlns:r="${relationshipTypes}"`,
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"',
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"',
  'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"',
  'xmlns:w14="http://schemas.microsoft.com/relationshipTypes/word/2010/wordml"',
].join(' ');

/** The list levels of Word. */
const levels = Array.from({ length: 9 }, (_, at) => at);

/** An ordered list (1) and a list with bullets (2). The numbers are in bookmarks. */
const numbering = [['decimal', 1] as const, ['bullet', 2] as const].map(([format, id]) => {
  const all = levels.map((at) => `<w:lvl w:ilvl="${at}"><w:numFmt w:val="${format}"/></w:lvl>`).join('');
  return { abstract: `<w:abstractNum w:abstractNumId="${id}">${all}</w:abstractNum>`, id };
});
const numberingPart = [
  `<w:numbering ${namespaces}>`,
  ...numbering.map(({ abstract }) => abstract),
  ...numbering.map(({ id }) => `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`),
  '</w:numbering>',
].join('');

/** The parts of the package: markup of blocks, markup of notes by number from 1, and links by target with their id. */
export interface MinimalParts {
  body: string;
  notes: string[];
  links: ReadonlyMap<string, string>;
}

/** Returns the package. */
export function writeMinimalPackage({ body, notes, links }: MinimalParts): Promise<Buffer> {
  const linkMarkup = [...links]
    .map(
      ([href, id]) =>
        `<Relationship Id="${id}" Type="${relationshipTypes}/hyperlink" Target="${escapeXml(href)}" TargetMode="External"/>`,
    )
    .join('');
  const toRels = (inner: string) =>
    `${declaration}<Relationships xmlns="${packageNamespace}/relationships">${inner}</Relationships>`;
  const toRelationship = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${relationshipTypes}/${type}" Target="${target}"/>`;
  const noteMarkup = notes.map((each, at) => `<w:footnote w:id="${at + 1}">${each}</w:footnote>`).join('');
  const shared = `${linkMarkup}${toRelationship('picture', 'image', 'media/picture.png')}`;
  const parts: Record<string, string> = {
    '[Content_Types].xml': `${declaration}<Types xmlns="${packageNamespace}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="png" ContentType="image/png"/><Override PartName="/word/document.xml" ContentType="${wordType}.document.main+xml"/><Override PartName="/word/footnotes.xml" ContentType="${wordType}.footnotes+xml"/><Override PartName="/word/numbering.xml" ContentType="${wordType}.numbering+xml"/></Types>`,
    '_rels/.rels': toRels(toRelationship('document', 'officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': toRels(
      [
        toRelationship('footnotes', 'footnotes', 'footnotes.xml'),
        toRelationship('numbering', 'numbering', 'numbering.xml'),
        shared,
      ].join(''),
    ),
    'word/_rels/footnotes.xml.rels': toRels(shared),
    'word/document.xml': `${declaration}<w:document ${namespaces}><w:body>${body}</w:body></w:document>`,
    'word/footnotes.xml': `${declaration}<w:footnotes ${namespaces}>${noteMarkup}</w:footnotes>`,
    'word/numbering.xml': `${declaration}${numberingPart}`,
  };
  const entries = Object.entries(parts).map(([name, text]): [string, Uint8Array] => [
    name,
    Buffer.from(text),
  ]);
  return pack(entries, { isCompressed: false });
}

/** What mammoth makes of the styles that the package uses. */
export const styleMap = [
  'p.title => h1.title:fresh',
  ...levels.map((at) => `p.h${at + 1} => h${Math.min(6, at + 1)}:fresh`),
  'p.quote => blockquote > p:fresh',
  "p.code => pre:separator('\\n')",
  ...levels.flatMap((at) => {
    const parents = 'ul|ol > li > '.repeat(at);
    return [
      `p:unordered-list(${at + 1}) => ${parents}ul > li:fresh`,
      `p:ordered-list(${at + 1}) => ${parents}ol > li:fresh`,
    ];
  }),
  'p => p:fresh',
  'u => u',
  'highlight => mark',
];
