/** Generates tests/fixtures/corporate-template.docx: a realistic Word template of a fictional bank. */
import { writeFile } from 'node:fs/promises';
import { pack } from '../services/export/formats/opc/pack.ts';
import { LOGO, logoPng } from './corporate-logo.ts';
import { AMBER, GREEN, GREY, HEAD, NUMBERING, STYLES, W } from './corporate-styles.ts';

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';
const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const SPACES = `xmlns:w="${W}" xmlns:r="${R}"`;

/** Renders a run of text. `properties` is the markup of its run properties. */
function run(text: string, properties = ''): string {
  return `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
}

function paragraph(properties: string, ...inner: string[]): string {
  return `<w:p><w:pPr>${properties}</w:pPr>${inner.join('')}</w:p>`;
}

function field(instruction: string, properties: string): string {
  const mark = (kind: string) =>
    `<w:r><w:rPr>${properties}</w:rPr><w:fldChar w:fldCharType="${kind}"/></w:r>`;
  const code = `<w:r><w:rPr>${properties}</w:rPr><w:instrText xml:space="preserve"> ${instruction} </w:instrText></w:r>`;
  return mark('begin') + code + mark('separate') + run('1', properties) + mark('end');
}

/** Renders the logo. `height` is in points; the width keeps the aspect ratio. */
function logo(id: number, height: number): string {
  const extent = `cx="${Math.round((height * 12_700 * LOGO.width) / LOGO.height)}" cy="${height * 12_700}"`;
  return (
    `<w:r><w:drawing><wp:inline xmlns:wp="${DRAWING}/wordprocessingDrawing" distT="0" distB="0" distL="0" distR="0"><wp:extent ${extent}/>` +
    `<wp:docPr id="${id}" name="Logo ${id}" descr="Aldermoor Bank"/><a:graphic xmlns:a="${DRAWING}/main"><a:graphicData uri="${DRAWING}/picture">` +
    `<pic:pic xmlns:pic="${DRAWING}/picture"><pic:nvPicPr><pic:cNvPr id="${id}" name="logo.png"/><pic:cNvPicPr/></pic:nvPicPr>` +
    '<pic:blipFill><a:blip r:embed="rIdLogo"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>' +
    `<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext ${extent}/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>` +
    '</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
  );
}

/**
 * The cover's title is in a content control and split over runs, as Word does after a spelling correction.
 */
const TITLE =
  '<w:sdt><w:sdtPr><w:alias w:val="Title"/><w:tag w:val="title"/><w:id w:val="401177"/><w:text/></w:sdtPr><w:sdtContent>' +
  `${run('{{')}<w:proofErr w:type="spellStart"/>${run('tit')}${run('le')}<w:proofErr w:type="spellEnd"/>${run('}}')}</w:sdtContent></w:sdt>`;

function factsRow(label: string, value: string): string {
  const cell = (width: number, inner: string, fill = '') =>
    `<w:tc><w:tcPr><w:tcW w:w="${width}" w:type="dxa"/>${fill}</w:tcPr>${inner}</w:tc>`;
  const shade = '<w:shd w:val="clear" w:color="auto" w:fill="E8EFEE"/>';
  const tight = '<w:spacing w:before="60" w:after="60"/>';
  const strong = `<w:b/><w:color w:val="${GREEN}"/>`;
  return `<w:tr>${cell(2_600, paragraph(tight, run(label, strong)), shade)}${cell(6_426, paragraph(tight, run(value)))}</w:tr>`;
}

const FACTS =
  '<w:tbl><w:tblPr><w:tblStyle w:val="AldermoorGrid"/><w:tblW w:w="9026" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr>' +
  '<w:tblGrid><w:gridCol w:w="2600"/><w:gridCol w:w="6426"/></w:tblGrid>' +
  factsRow('Version', '{{version}}') +
  factsRow('Department', '{{department}}') +
  factsRow('Published', '{{published_at}}') +
  factsRow('Issued by', '{{organization}}') +
  '</w:tbl>';

const COVER = [
  paragraph('<w:spacing w:before="0" w:after="3000"/>', logo(1, 52)),
  paragraph(
    '<w:spacing w:before="0" w:after="120"/>',
    run(
      'STANDARD OPERATING PROCEDURE',
      `<w:b/><w:color w:val="${AMBER}"/><w:spacing w:val="60"/><w:sz w:val="20"/>`,
    ),
  ),
  paragraph('<w:pStyle w:val="AldermoorTitle"/>', TITLE),
  paragraph(
    `<w:pBdr><w:bottom w:val="single" w:sz="18" w:space="1" w:color="${AMBER}"/></w:pBdr><w:spacing w:after="600"/><w:ind w:right="6800"/>`,
  ),
  FACTS,
  paragraph(
    '<w:spacing w:before="2600" w:after="0"/>',
    run('Internal use only. ', `<w:b/><w:color w:val="${GREY}"/><w:sz w:val="18"/>`),
    run(
      'A printed copy is not controlled: check the version in the register of procedures before you act on it.',
      `<w:color w:val="${GREY}"/><w:sz w:val="18"/>`,
    ),
  ),
  paragraph(
    '<w:spacing w:before="0" w:after="0" w:line="20" w:lineRule="exact"/>',
    '<w:r><w:br w:type="page"/></w:r>',
  ),
].join('');

const SECTION =
  '<w:sectPr><w:headerReference w:type="default" r:id="rIdHeader"/><w:headerReference w:type="first" r:id="rIdFirst"/>' +
  '<w:footerReference w:type="default" r:id="rIdFooter"/><w:footerReference w:type="first" r:id="rIdFirstFooter"/>' +
  '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1701" w:right="1440" w:bottom="1440" w:left="1440" w:header="680" w:footer="567" w:gutter="0"/><w:titlePg/></w:sectPr>';

const DOCUMENT = `${HEAD}<w:document ${SPACES}><w:body>${COVER}${paragraph('', run('{{content}}'))}${SECTION}</w:body></w:document>`;

const SMALL = `<w:color w:val="${GREY}"/><w:sz w:val="17"/>`;
const RIGHT_TAB = '<w:tabs><w:tab w:val="right" w:pos="9026"/></w:tabs><w:spacing w:before="0" w:after="0"/>';
const border = (side: string) =>
  `<w:pBdr><w:${side} w:val="single" w:sz="6" w:space="6" w:color="${AMBER}"/></w:pBdr>`;
const HEADER = `${HEAD}<w:hdr ${SPACES}>${paragraph(border('bottom') + RIGHT_TAB, logo(2, 20), '<w:r><w:tab/></w:r>', run('{{title}}', SMALL))}</w:hdr>`;
const FOOTER = `${HEAD}<w:ftr ${SPACES}>${paragraph(
  border('top') + RIGHT_TAB,
  run('{{organization}} · Version {{version}}', SMALL),
  `<w:r><w:tab/></w:r>${run('Page ', SMALL)}${field('PAGE', SMALL)}${run(' of ', SMALL)}${field('NUMPAGES', SMALL)}`,
)}</w:ftr>`;
const EMPTY = paragraph('<w:spacing w:after="0"/>');

const relationship = (id: string, kind: string, target: string) =>
  `<Relationship Id="${id}" Type="${kind.includes('/') ? kind : `${R}/${kind}`}" Target="${target}"/>`;
const relationships = (...all: string[]) =>
  `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`;
const LOGO_LINK = relationship('rIdLogo', 'image', 'media/logo.png');
const override = (part: string, type: string) => `<Override PartName="${part}" ContentType="${type}"/>`;
const TYPES =
  `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
  '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>' +
  override('/word/document.xml', `${WORD_TYPE}.document.main+xml`) +
  ['styles', 'numbering', 'settings']
    .map((kind) => override(`/word/${kind}.xml`, `${WORD_TYPE}.${kind}+xml`))
    .join('') +
  ['header1', 'header2'].map((name) => override(`/word/${name}.xml`, `${WORD_TYPE}.header+xml`)).join('') +
  ['footer1', 'footer2'].map((name) => override(`/word/${name}.xml`, `${WORD_TYPE}.footer+xml`)).join('') +
  `${override('/docProps/core.xml', 'application/vnd.openxmlformats-package.core-properties+xml')}</Types>`;
const CORE =
  `${HEAD}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/">` +
  '<dc:title>Procedure template</dc:title><dc:creator>Aldermoor Bank</dc:creator></cp:coreProperties>';
const SETTINGS = `${HEAD}<w:settings xmlns:w="${W}"><w:defaultTabStop w:val="709"/><w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>`;

const PARTS: [string, string][] = [
  ['[Content_Types].xml', TYPES],
  [
    '_rels/.rels',
    relationships(
      relationship('rId1', 'officeDocument', 'word/document.xml'),
      relationship(
        'rId2',
        'http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties',
        'docProps/core.xml',
      ),
    ),
  ],
  ['docProps/core.xml', CORE],
  ['word/document.xml', DOCUMENT],
  [
    'word/_rels/document.xml.rels',
    relationships(
      relationship('rIdStyles', 'styles', 'styles.xml'),
      relationship('rIdNumbering', 'numbering', 'numbering.xml'),
      relationship('rIdSettings', 'settings', 'settings.xml'),
      relationship('rIdHeader', 'header', 'header1.xml'),
      relationship('rIdFirst', 'header', 'header2.xml'),
      relationship('rIdFooter', 'footer', 'footer1.xml'),
      relationship('rIdFirstFooter', 'footer', 'footer2.xml'),
      LOGO_LINK,
    ),
  ],
  ['word/styles.xml', STYLES],
  ['word/numbering.xml', NUMBERING],
  ['word/settings.xml', SETTINGS],
  ['word/header1.xml', HEADER],
  ['word/_rels/header1.xml.rels', relationships(LOGO_LINK)],
  ['word/header2.xml', `${HEAD}<w:hdr ${SPACES}>${EMPTY}</w:hdr>`],
  ['word/footer1.xml', FOOTER],
  ['word/footer2.xml', `${HEAD}<w:ftr ${SPACES}>${EMPTY}</w:ftr>`],
];

const file = await pack([
  ...PARTS.map(([name, text]): [string, Uint8Array] => [name, Buffer.from(text, 'utf8')]),
  ['word/media/logo.png', logoPng()],
]);
await writeFile(new URL('../tests/fixtures/corporate-template.docx', import.meta.url), file);
console.log(`tests/fixtures/corporate-template.docx: ${file.length} bytes`);
