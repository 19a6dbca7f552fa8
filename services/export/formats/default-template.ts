/** Creates the built-in template with the docx library; it is compiled like an uploaded template. */
import {
  AlignmentType,
  BorderStyle,
  Document,
  Footer,
  Header,
  LineRuleType,
  Packer,
  PageNumber,
  Paragraph,
  Tab,
  Table,
  TableCell,
  TableRow,
  TabStopType,
  TextRun,
  WidthType,
} from 'docx';
import { pack, unpack } from '#libs/opc';
import { createNumbering, createStyles, linkHeadingNumbers, TEXT_WIDTH } from './default-template-styles.ts';
import { type CompiledTemplate, compileTemplate } from './template.ts';

/** A fixed nonce, so that every process creates the same template; it need not be secret. */
const NONCE = '6e1f0c9bd3a84d7795b2f0a1c4e86d35';

/** Creates and compiles the built-in template. This is slow, so callers should keep the result. */
export async function createDefaultTemplate(): Promise<CompiledTemplate> {
  const compiled = await compileTemplate(await createDefaultTemplateFile(), { nonce: NONCE });
  if (!compiled.ok) throw new Error(`The built-in template does not compile: ${compiled.fault.message}`);
  const { plan, ...template } = compiled.template;
  return { ...template, plan: { ...plan, hasContents: true } };
}

/** Creates the .docx file of the built-in template; the bytes are the same in every process. */
export async function createDefaultTemplateFile(): Promise<Uint8Array> {
  const parts = await unpack(await Packer.toBuffer(createDocument()));
  const edit = (part: string, change: (xml: string) => string) => {
    const xml = Buffer.from(parts.get(part) ?? []).toString('utf8');
    parts.set(part, Buffer.from(change(xml), 'utf8'));
  };
  // the library writes the current time, with which each process would have another checksum
  edit('docProps/core.xml', (xml) => xml.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00Z'));
  edit('word/numbering.xml', linkHeadingNumbers);
  return pack(parts);
}

const MUTED = '616E7C';
const LINE = 'CBD2D9';
const NO_LINE = { style: BorderStyle.NONE, size: 0, color: 'auto' };
const NO_BORDERS = { top: NO_LINE, bottom: NO_LINE, left: NO_LINE, right: NO_LINE };

function createDocument(): Document {
  return new Document({
    creator: 'Process Document Service',
    title: 'Document',
    styles: createStyles(),
    numbering: createNumbering(),
    sections: [
      {
        properties: { page: { size: { width: 11_906, height: 16_838 } } },
        headers: { default: createHeader() },
        footers: { default: createFooter() },
        children: [
          new Paragraph({ style: 'Title', children: [new TextRun('{{title}}')] }),
          createPropertyTable(),
          new Paragraph({ spacing: { after: 120 } }),
          new Paragraph('{{content}}'),
        ],
      },
    ],
  });
}

/** Creates the table with the properties of the document: one row of four cells. */
function createPropertyTable(): Table {
  const width = { size: Math.floor(TEXT_WIDTH / 4), type: WidthType.DXA };
  const line = { style: BorderStyle.SINGLE, size: 4, color: LINE };
  const cell = (label: string, placeholder: string) =>
    new TableCell({
      width,
      borders: { ...NO_BORDERS, top: line, bottom: line },
      margins: { top: 80, bottom: 80, left: 0, right: 120 },
      children: [
        new Paragraph({
          spacing: { after: 0 },
          children: [new TextRun({ text: label, size: 17, color: MUTED })],
        }),
        new Paragraph({ spacing: { after: 0 }, children: [new TextRun(placeholder)] }),
      ],
    });
  return new Table({
    width: { size: TEXT_WIDTH, type: WidthType.DXA },
    columnWidths: [width.size, width.size, width.size, width.size],
    borders: { ...NO_BORDERS, insideHorizontal: NO_LINE, insideVertical: NO_LINE },
    rows: [
      new TableRow({
        children: [
          cell('Version', '{{version}}'),
          cell('Department', '{{department}}'),
          cell('Published', '{{published_at}}'),
          cell('Organization', '{{organization}}'),
        ],
      }),
    ],
  });
}

/** Creates the header: the title on the left, version and status on the right, and the watermark. */
function createHeader(): Header {
  const line = { style: BorderStyle.SINGLE, size: 4, color: LINE };
  const text = { size: 17, color: MUTED };
  const cell = (size: number, children: Paragraph[]) =>
    new TableCell({
      width: { size, type: WidthType.DXA },
      borders: { ...NO_BORDERS, bottom: line },
      margins: { top: 0, bottom: 60, left: 0, right: 0 },
      children,
    });
  const right = { alignment: AlignmentType.RIGHT, spacing: { after: 0 } };
  const table = new Table({
    width: { size: TEXT_WIDTH, type: WidthType.DXA },
    columnWidths: [6_000, TEXT_WIDTH - 6_000],
    borders: { ...NO_BORDERS, insideHorizontal: NO_LINE, insideVertical: NO_LINE },
    rows: [
      new TableRow({
        children: [
          cell(6_000, [createSmallParagraph([new TextRun({ ...text, text: '{{title}}' })])]),
          cell(TEXT_WIDTH - 6_000, [
            new Paragraph({ ...right, children: [new TextRun({ ...text, text: '{{version_label}}' })] }),
            new Paragraph({ ...right, children: [new TextRun({ ...text, bold: true, text: '{{status}}' })] }),
          ]),
        ],
      }),
    ],
  });
  // keeps a high header away from the text
  const anchor = { after: 0, line: 140, lineRule: LineRuleType.EXACT };
  return new Header({
    children: [table, new Paragraph({ spacing: anchor, children: [new TextRun('{{watermark}}')] })],
  });
}

function createFooter(): Footer {
  const text = { size: 17, color: MUTED };
  return new Footer({
    children: [
      createSmallParagraph([
        new TextRun({ ...text, text: '{{organization}}' }),
        new TextRun({
          ...text,
          children: [new Tab(), 'Page ', PageNumber.CURRENT, ' of ', PageNumber.TOTAL_PAGES],
        }),
      ]),
    ],
  });
}

function createSmallParagraph(children: TextRun[]): Paragraph {
  return new Paragraph({
    spacing: { after: 0 },
    tabStops: [{ type: TabStopType.RIGHT, position: TEXT_WIDTH }],
    children,
  });
}
