/** Writes realistic Word templates for tests: with styles, lists, headers, pictures and content controls. */
import { pack } from '#libs/opc';
import { encodePng } from '../../fixtures/generators/png.ts';
import { R, rels, types, W, WORD_TYPE } from '../samples.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const SPACES =
  `xmlns:w="${W}" xmlns:r="${R}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" ` +
  'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ' +
  'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" mc:Ignorable="w14"';

const amber = encodePng(50, 10, () => [200, 129, 43, 255]);

type Kind = 'styles' | 'numbering' | 'settings' | 'header' | 'footer' | 'footnotes';

const ROOTS: Record<Kind, string> = {
  styles: 'styles',
  numbering: 'numbering',
  settings: 'settings',
  header: 'hdr',
  footer: 'ftr',
  footnotes: 'footnotes',
};

/** A part beside the main part; its relationship id is its name. */
export type Part = { kind: Kind; name: string; inner: string };

/** Writes a Word file; `body` is the content of its body. Every part may use the picture `logo`. */
export async function wordFile(body: string, parts: Part[]): Promise<Uint8Array> {
  const logo: [string, string, string] = ['logo', 'image', 'media/logo.png'];
  const overrides = parts.map(({ kind, name }) => [`/word/${name}.xml`, `${WORD_TYPE}.${kind}+xml`]);
  const links = parts.map(({ kind, name }): [string, string, string] => [name, kind, `${name}.xml`]);
  const core = 'http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties';
  const texts: Record<string, string> = {
    '[Content_Types].xml': types({
      ...Object.fromEntries(overrides),
      '/docProps/core.xml': 'application/vnd.openxmlformats-package.core-properties+xml',
    }),
    '_rels/.rels': rels(['rId1', 'officeDocument', 'word/document.xml'], ['rId2', core, 'docProps/core.xml']),
    'docProps/core.xml':
      `${HEAD}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">` +
      '<dc:title>Vorlage</dc:title><dc:creator>Muster AG</dc:creator></cp:coreProperties>',
    'word/document.xml': `${HEAD}<w:document ${SPACES}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': rels(...links, logo),
  };
  for (const { kind, name, inner } of parts) {
    texts[`word/${name}.xml`] = `${HEAD}<w:${ROOTS[kind]} ${SPACES}>${inner}</w:${ROOTS[kind]}>`;
    if (kind === 'header' || kind === 'footer') texts[`word/_rels/${name}.xml.rels`] = rels(logo);
  }
  const encoded = Object.entries(texts).map(([name, content]): [string, Uint8Array] => [
    name,
    Buffer.from(content),
  ]);
  return pack([...encoded, ['word/media/logo.png', amber]]);
}

/** Creates a run; `properties` is the markup of its properties. */
export function run(words: string, properties = ''): string {
  return `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${words}</w:t></w:r>`;
}

/** Creates a paragraph; `inner` is markup or plain text, `properties` the markup of its properties. */
export function para(inner: string, properties = ''): string {
  return `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}${inner.startsWith('<') ? inner : run(inner)}</w:p>`;
}

/** Creates a paragraph style; `more` is the markup of its properties in schema order. */
export function style(id: string, name: string, more = '', basedOn = ''): string {
  return (
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${basedOn && `<w:basedOn w:val="${basedOn}"/>`}` +
    `<w:qFormat/>${more}</w:style>`
  );
}

/** Creates the properties of paragraphs that belong to a list. */
export function createListProperties(numId: number, more = ''): string {
  return `<w:pPr><w:numPr><w:numId w:val="${numId}"/></w:numPr>${more}</w:pPr>`;
}

/** Creates the start of a styles part: the default font, and the default styles of Word under these ids. */
export function basics(
  font: string,
  ids: { normal: string; character: string; table: string; none: string },
): string {
  return (
    `<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}" w:eastAsia="${font}" w:cs="${font}"/><w:sz w:val="22"/><w:szCs w:val="22"/></w:rPr></w:rPrDefault>` +
    '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="264" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>' +
    `<w:style w:type="paragraph" w:default="1" w:styleId="${ids.normal}"><w:name w:val="Normal"/><w:qFormat/></w:style>` +
    `<w:style w:type="character" w:default="1" w:styleId="${ids.character}"><w:name w:val="Default Paragraph Font"/></w:style>` +
    `<w:style w:type="table" w:default="1" w:styleId="${ids.table}"><w:name w:val="Normal Table"/><w:tblPr><w:tblInd w:w="0" w:type="dxa"/>` +
    '<w:tblCellMar><w:top w:w="0" w:type="dxa"/><w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/></w:tblCellMar></w:tblPr></w:style>' +
    `<w:style w:type="numbering" w:default="1" w:styleId="${ids.none}"><w:name w:val="No List"/></w:style>`
  );
}

/** Creates a list pattern; each level is `[format, text, left, hanging, style]`. */
export function pattern(
  id: number,
  type: 'singleLevel' | 'hybridMultilevel' | 'multilevel',
  ...levels: [string, string, number, number, string?][]
): string {
  const all = levels.map(
    ([format, words, left, hanging, linked], at) =>
      `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${linked ? `<w:pStyle w:val="${linked}"/>` : ''}<w:lvlText w:val="${words}"/><w:lvlJc w:val="left"/>` +
      `<w:pPr><w:ind w:left="${left}" w:hanging="${hanging}"/></w:pPr>${words === '\uF0B7' ? '<w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol" w:hint="default"/></w:rPr>' : ''}</w:lvl>`,
  );
  return `<w:abstractNum w:abstractNumId="${id}"><w:nsid w:val="11AA00${id}0"/><w:multiLevelType w:val="${type}"/>${all.join('')}</w:abstractNum>`;
}

/** Creates one list for each pattern; list 1 uses the first pattern. */
export function lists(...patterns: string[]): string {
  const ids = patterns.map((pattern) => /abstractNumId="(\d+)"/.exec(pattern)?.[1]);
  return (
    patterns.join('') +
    ids.map((id, at) => `<w:num w:numId="${at + 1}"><w:abstractNumId w:val="${id}"/></w:num>`).join('')
  );
}

/** Creates the properties of a section; `isLandscape` rotates the page. */
export function section(more = '', isLandscape = false): string {
  const size = isLandscape
    ? '<w:pgSz w:w="16838" w:h="11906" w:orient="landscape"/>'
    : '<w:pgSz w:w="11906" w:h="16838"/>';
  return `<w:sectPr>${more}${size}<w:pgMar w:top="1418" w:right="1134" w:bottom="1134" w:left="1418" w:header="709" w:footer="567" w:gutter="0"/></w:sectPr>`;
}

/** Creates a section's reference to a header or footer part. */
export function createReference(kind: 'header' | 'footer', name: string, type = 'default'): string {
  return `<w:${kind}Reference w:type="${type}" r:id="${name}"/>`;
}

/** Creates the logo with a height in points. */
export function logo(id: number, height: number): string {
  const extent = `cx="${height * 12_700 * 5}" cy="${height * 12_700}"`;
  const picture = 'http://schemas.openxmlformats.org/drawingml/2006/picture';
  return (
    `<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent ${extent}/><wp:docPr id="${id}" name="Logo ${id}"/>` +
    `<a:graphic><a:graphicData uri="${picture}"><pic:pic xmlns:pic="${picture}"><pic:nvPicPr><pic:cNvPr id="${id}" name="logo.png"/><pic:cNvPicPr/></pic:nvPicPr>` +
    '<pic:blipFill><a:blip r:embed="logo"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>' +
    `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${extent}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`
  );
}

/** Creates a field as Word writes it: begin, instruction, separator, shown text, end. */
export function field(instruction: string, shown = '1'): string {
  const mark = (kind: string) => `<w:r><w:fldChar w:fldCharType="${kind}"/></w:r>`;
  return `${mark('begin')}<w:r><w:instrText xml:space="preserve"> ${instruction} </w:instrText></w:r>${mark('separate')}${run(shown)}${mark('end')}`;
}
