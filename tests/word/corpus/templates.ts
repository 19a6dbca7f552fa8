/** Realistic templates for tests; each has a feature that broke an exporter before. */
import { readFile } from 'node:fs/promises';
import { type Parts, pack, TYPES_PART, unpack } from '#libs/opc';
import { createDefaultTemplateFile } from '../../../services/export/formats/default-template.ts';
import type { TemplateMode } from '../../../services/export/formats/template/plan.ts';
import { WORD_TYPE } from '../samples.ts';
import {
  basics,
  createListProperties,
  createReference,
  field,
  lists,
  logo,
  type Part,
  para,
  pattern,
  run,
  section,
  style,
  wordFile,
} from './word-file.ts';

/** A template; `make` returns the file to upload, `mode` is where the body is inserted. */
export type Sample = { name: string; mode: TemplateMode; create(): Promise<Uint8Array> };

const fixture = (name: string) => readFile(new URL(`../../fixtures/${name}.docx`, import.meta.url));
const BULLET = '\uF0B7';
const ENGLISH = { normal: 'Normal', character: 'DefaultParagraphFont', table: 'TableNormal', none: 'NoList' };
const page = () => para(`${run('{{organization}} · ')}${field('PAGE')}`, '<w:jc w:val="right"/>');
const headings = (runProperties: string) =>
  [1, 2, 3]
    .map((level) =>
      style(
        `Heading${level}`,
        `heading ${level}`,
        `<w:pPr><w:keepNext/><w:spacing w:before="${480 - level * 100}" w:after="80"/><w:outlineLvl w:val="${level - 1}"/></w:pPr><w:rPr><w:b/>${runProperties}<w:sz w:val="${36 - level * 4}"/></w:rPr>`,
        'Normal',
      ),
    )
    .join('');
const part = (kind: Part['kind'], inner: string, name: string = kind): Part => ({ kind, name, inner });

/** All templates. `libreoffice` is the German template, saved again by LibreOffice. */
export const samples: Sample[] = [
  { name: 'corporate', mode: 'placeholder', create: () => fixture('corporate-template') },
  { name: 'built-in', mode: 'placeholder', create: createDefaultTemplateFile },
  { name: 'german', mode: 'placeholder', create: german },
  { name: 'libreoffice', mode: 'placeholder', create: () => fixture('libreoffice-template') },
  { name: 'types-by-part', mode: 'placeholder', create: typesByPart },
  { name: 'no-numbering', mode: 'placeholder', create: noNumbering },
  { name: 'content-control', mode: 'placeholder', create: contentControl },
  { name: 'table-layout', mode: 'placeholder', create: tableLayout },
  { name: 'landscape', mode: 'placeholder', create: landscape },
  { name: 'style-only', mode: 'styles', create: styleOnly },
  { name: 'cover-only', mode: 'append', create: coverOnly },
  { name: 'controlled', mode: 'placeholder', create: facts },
];

/** A template by German Word: German ids, single-level lists, bullets in the font Symbol. */
async function german(): Promise<Uint8Array> {
  const names: [string, string, number][] = [
    ['Aufzhlungszeichen', 'List Bullet', 1],
    ['Aufzhlungszeichen2', 'List Bullet 2', 2],
    ['Listennummer', 'List Number', 3],
    ['Listennummer2', 'List Number 2', 4],
  ];
  const styles =
    basics('Arial', {
      normal: 'Standard',
      character: 'Absatz-Standardschriftart',
      table: 'NormaleTabelle',
      none: 'KeineListe',
    }) +
    style('Titel', 'Title', '<w:rPr><w:b/><w:color w:val="7A1F1F"/><w:sz w:val="48"/></w:rPr>', 'Standard') +
    [1, 2, 3]
      .map((level) =>
        style(
          `berschrift${level}`,
          `heading ${level}`,
          `<w:pPr><w:keepNext/><w:numPr><w:ilvl w:val="${level - 1}"/><w:numId w:val="5"/></w:numPr><w:spacing w:before="240" w:after="60"/><w:outlineLvl w:val="${level - 1}"/></w:pPr><w:rPr><w:b/><w:color w:val="7A1F1F"/></w:rPr>`,
          'Standard',
        ),
      )
      .join('') +
    names
      .map(([id, name, numId]) =>
        style(id, name, createListProperties(numId, '<w:contextualSpacing/>'), 'Standard'),
      )
      .join('') +
    style(
      'Zitat',
      'Quote',
      '<w:pPr><w:ind w:left="284" w:right="284"/></w:pPr><w:rPr><w:i/></w:rPr>',
      'Standard',
    ) +
    '<w:style w:type="table" w:styleId="Tabellenraster"><w:name w:val="Table Grid"/><w:basedOn w:val="NormaleTabelle"/><w:tblPr><w:tblBorders>' +
    ['top', 'left', 'bottom', 'right', 'insideH', 'insideV']
      .map((side) => `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>`)
      .join('') +
    '</w:tblBorders></w:tblPr></w:style>';
  const numbering = lists(
    pattern(1, 'singleLevel', ['bullet', BULLET, 360, 360, 'Aufzhlungszeichen']),
    pattern(2, 'singleLevel', ['bullet', '–', 643, 283, 'Aufzhlungszeichen2']),
    pattern(3, 'singleLevel', ['decimal', '%1.', 360, 360, 'Listennummer']),
    pattern(4, 'singleLevel', ['lowerLetter', '%1)', 643, 283, 'Listennummer2']),
    pattern(
      5,
      'multilevel',
      ['decimal', '§ %1', 567, 567, 'berschrift1'],
      ['decimal', '%1.%2', 567, 567, 'berschrift2'],
      ['decimal', '%1.%2.%3', 737, 737, 'berschrift3'],
    ),
  );
  const title = `${run('{{')}<w:proofErr w:type="spellStart"/>${run('title')}<w:proofErr w:type="spellEnd"/>${run('}}', '<w:lang w:val="de-DE"/>')}`;
  const body =
    para(title, '<w:pStyle w:val="Titel"/>') +
    para('Fassung {{version}} vom {{published_at}}, {{department}}') +
    para('{{content}}') +
    section(createReference('header', 'header') + createReference('footer', 'footer'));
  return wordFile(body, [
    part('styles', styles),
    part('numbering', numbering),
    part('header', para(logo(1, 20))),
    part('footer', page()),
  ]);
}

/** The German template without a content type for the extension `rels`, as early versions of LibreOffice save it. */
async function typesByPart(): Promise<Uint8Array> {
  const parts = await unpack(await german());
  const names = [...parts.keys()].filter((name) => name.endsWith('.rels'));
  const overrides = names.map((name) => `<Override PartName="/${name}" ${RELS_TYPE}/>`);
  return packWithTypes(parts, `<Default Extension="rels" ${RELS_TYPE}/>`, overrides.join(''));
}

const RELS_TYPE = 'ContentType="application/vnd.openxmlformats-package.relationships+xml"';

/** Packs a template after `from` was replaced in its content types. */
function packWithTypes(parts: Parts, from: string, to: string): Promise<Uint8Array> {
  const types = Buffer.from(parts.get(TYPES_PART) ?? []).toString();
  if (!types.includes(from)) throw new Error(`The content types do not contain ${from}`);
  parts.set(TYPES_PART, Buffer.from(types.replace(from, to)));
  return pack(parts);
}

/** A template without lists that declares the type of a part for them. */
async function noNumbering(): Promise<Uint8Array> {
  const styles = basics('Georgia', ENGLISH) + headings('<w:color w:val="1F4E79"/>');
  const body =
    para('{{title}}', '<w:jc w:val="center"/>') +
    para('{{content}}') +
    section(createReference('header', 'header'));
  const file = await wordFile(body, [
    part('styles', styles),
    part('header', para('{{department}} / {{version}}')),
  ]);
  const override = `<Override PartName="/word/numbering.xml" ContentType="${WORD_TYPE}.numbering+xml"/>`;
  return packWithTypes(await unpack(file), '</Types>', `${override}</Types>`);
}

/** A bound title, a content control around {{content}}, a table of contents and a footnote. */
function contentControl(): Promise<Uint8Array> {
  const control = (properties: string, inner: string) =>
    `<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${inner}</w:sdtContent></w:sdt>`;
  const bound =
    '<w:alias w:val="Title"/><w:id w:val="11"/><w:dataBinding w:prefixMappings="xmlns:ns0=\'http://purl.org/dc/elements/1.1/\'" w:xpath="/ns0:title[1]" w:storeItemID="{6C3C8BC8-F283-45AE-878A-BAB7291924A1}"/><w:text/>';
  const toc = control(
    '<w:id w:val="12"/><w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj>',
    para('Contents') + para(field('TOC \\o "1-3" \\h \\z \\u', 'Update this table')),
  );
  const body =
    `<w:p>${control(bound, run('{{title}}', '<w:b/><w:sz w:val="56"/>'))}</w:p>` +
    para(
      control('<w:alias w:val="Department"/><w:id w:val="13"/><w:text/>', run('{{department}}')) +
        run(' · {{version}}'),
    ) +
    toc +
    control('<w:alias w:val="Body"/><w:id w:val="14"/><w:showingPlcHdr/>', para('{{content}}')) +
    para(`${run('Approved')}<w:r><w:footnoteReference w:id="1"/></w:r>`) +
    section();
  const separator = (id: number, type: string) =>
    `<w:footnote w:type="${type}" w:id="${id}"><w:p><w:r><w:${type}/></w:r></w:p></w:footnote>`;
  const notes = `${separator(-1, 'separator')}${separator(0, 'continuationSeparator')}<w:footnote w:id="1">${para('On {{published_at}}.')}</w:footnote>`;
  const numbering = lists(
    pattern(
      1,
      'hybridMultilevel',
      ['bullet', '➢', 500, 250],
      ['bullet', '○', 900, 250],
      ['decimal', '%3.', 1300, 250],
    ),
    pattern(2, 'hybridMultilevel', ['upperRoman', '%1.', 500, 300], ['lowerLetter', '%2.', 900, 300]),
  );
  const styles =
    basics('Calibri', ENGLISH) +
    headings('<w:color w:val="205B3B"/>') +
    style('LB', 'List Bullet', createListProperties(1), 'Normal') +
    style('LN', 'List Number', createListProperties(2), 'Normal');
  return wordFile(body, [part('styles', styles), part('numbering', numbering), part('footnotes', notes)]);
}

/** A page that is a table, with {{content}} in its right cell. */
function tableLayout(): Promise<Uint8Array> {
  const cell = (width: number, inner: string, fill: string) =>
    `<w:tc><w:tcPr><w:tcW w:w="${width}" w:type="dxa"/><w:shd w:val="clear" w:color="auto" w:fill="${fill}"/></w:tcPr>${inner}</w:tc>`;
  const properties = ['{{title}}', 'v{{version}}', '{{department}}', '{{published_at}}']
    .map((text) => para(text))
    .join('');
  const body =
    '<w:tbl><w:tblPr><w:tblW w:w="9354" w:type="dxa"/><w:tblLayout w:type="fixed"/></w:tblPr><w:tblGrid><w:gridCol w:w="2354"/><w:gridCol w:w="7000"/></w:tblGrid>' +
    `<w:tr>${cell(2354, para(logo(1, 18)) + properties, 'E8EFEE')}${cell(7000, para('{{content}}'), 'FFFFFF')}</w:tr></w:tbl>${para('')}${section()}`;
  return wordFile(body, [part('styles', basics('Calibri', ENGLISH) + headings(''))]);
}

/** A cover, then {{content}} in a landscape section with its own header, then a page for signatures. */
function landscape(): Promise<Uint8Array> {
  const box = (inner: string) =>
    `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="3600000" cy="720000"/><wp:docPr id="7" name="Box"/><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="3600000" cy="720000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:ln><a:solidFill><a:srgbClr val="C8812B"/></a:solidFill></a:ln></wps:spPr><wps:txbx><w:txbxContent>${inner}</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:rect style="width:283pt;height:57pt"><v:textbox><w:txbxContent>${inner}</w:txbxContent></v:textbox></v:rect></w:pict></mc:Fallback></mc:AlternateContent></w:r>`;
  const body =
    `<w:p>${box(para('{{title}}', '<w:pStyle w:val="Title"/>'))}</w:p>` +
    para('Cover of {{organization}}', section(createReference('header', 'header'))) +
    para('{{content}}', section(createReference('header', 'header2'), true)) +
    para('Signed for {{department}}: ________') +
    section();
  const styles =
    basics('Calibri', ENGLISH) +
    style('Title', 'Title', '<w:rPr><w:b/><w:sz w:val="40"/></w:rPr>', 'Normal') +
    headings('<w:color w:val="C8812B"/>');
  return wordFile(body, [
    part('styles', styles),
    part('header', para('Cover header')),
    part('header', para('Wide header {{version}}'), 'header2'),
  ]);
}

/** No placeholders: an old letter with letterhead and margins. */
function styleOnly(): Promise<Uint8Array> {
  const styles =
    basics('Times New Roman', ENGLISH) +
    headings('<w:i/>') +
    style(
      'Title',
      'Title',
      '<w:pPr><w:jc w:val="center"/></w:pPr><w:rPr><w:sz w:val="44"/></w:rPr>',
      'Normal',
    );
  const body =
    para(
      'Dear Sir or Madam',
      section(createReference('header', 'header') + createReference('footer', 'footer')),
    ) +
    para('This is an old letter.', '<w:pStyle w:val="Heading1"/>') +
    section('<w:type w:val="nextPage"/>');
  return wordFile(body, [
    part('styles', styles),
    part('header', para(logo(1, 24), '<w:jc w:val="right"/>')),
    part('footer', para('Muster AG, Musterstraße 1')),
  ]);
}

/** A template with all facts of a controlled document: a watermark in the header, the history in a cell. */
function facts(): Promise<Uint8Array> {
  const placeholders = [
    '{{status}}',
    '{{owner}} {{editor}}',
    '{{document_id}}',
    '{{url}}',
    '{{exported_at}}',
  ];
  const cell = `<w:tc><w:tcPr><w:tcW w:w="9354" w:type="dxa"/></w:tcPr>${para('Versions: {{history}}')}</w:tc>`;
  const body =
    para('{{title}}') +
    placeholders.map((fact) => para(fact)).join('') +
    `<w:tbl><w:tblPr><w:tblW w:w="9354" w:type="dxa"/></w:tblPr><w:tblGrid><w:gridCol w:w="9354"/></w:tblGrid><w:tr>${cell}</w:tr></w:tbl>` +
    para('{{content}}') +
    section(createReference('header', 'header') + createReference('footer', 'footer'));
  return wordFile(body, [
    part('styles', basics('Calibri', ENGLISH) + headings('')),
    part('header', para('{{version_label}} {{watermark}}')),
    part('footer', para('{{history}}')),
  ]);
}

/** Placeholders only on the cover: the body is appended, in the columns of the last section. */
function coverOnly(): Promise<Uint8Array> {
  const body =
    para('{{title}}', '<w:pStyle w:val="Heading1"/>') +
    para('Cover text', section()) +
    para('Foreword of {{organization}}') +
    section('', false)
      // as high as A3, because the text of a PDF mixes columns: all of it fits in the first one with every font
      .replace('w:h="16838"', 'w:h="23811"')
      .replace('</w:sectPr>', '<w:cols w:num="2" w:space="567"/></w:sectPr>');
  return wordFile(body, [part('styles', basics('Calibri', ENGLISH) + headings('<w:caps/>'))]);
}
