/** Rows for imports: the conversion compared with mammoth, and the latency of reads beside imports. */
import mammoth from 'mammoth';
import { pack } from '#libs/opc';
import { convertFile } from '../../services/documents/imports/conversion.ts';
import type { Side } from '../fixture.ts';
import type { Row, Sample } from '../row.ts';
import { readUnderWork } from './read-under-work.ts';

const paragraphs = 1_000;
const files = 20;
const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

/** Converts the same file by the import and by mammoth alone, in this process. */
export const importWord: Row = {
  name: 'import of 1,000 Word paragraphs',
  goal: 2,
  remark: 'the conversion in a worker without HTTP and MongoDB; baseline: mammoth alone, as HTML',
  unit: 'request',
  async prepare(_fixture, share) {
    const file = await createFile();
    const convert = async (side: Side) => {
      if (side === 'baseline') return mammoth.convertToHtml({ buffer: file });
      const conversion = await convertFile({ name: 'sop.docx', bytes: file, acceptChanges: false });
      if (!conversion.ok) throw new Error(conversion.fault.message);
      return conversion;
    };
    // both sides run compiled code when they are measured
    for (let warm = 0; warm < 10; warm += 1)
      for (const side of ['service', 'baseline'] as const) await convert(side);
    return {
      async batch(side: Side): Promise<Sample> {
        const count = Math.max(1, Math.round(files * share));
        const [start, cpu] = [performance.now(), process.cpuUsage()];
        for (let done = 0; done < count; done += 1) await convert(side);
        const { user, system } = process.cpuUsage(cpu);
        return { count, wallMs: performance.now() - start, cpuMs: (user + system) / 1_000 };
      },
    };
  },
};

/** Reads a small document every 5 ms, with and without concurrent previews of Word files. */
export const readUnderImports = readUnderWork({
  name: 'read a document under load of imports of 1,000 paragraphs',
  remark:
    'paired with the service without imports; one read every 5 ms, one preview after the other; the p99 counts',
  workers: 1,
  async prepare() {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(await createFile())]), 'sop.docx');
    const encoded = new Response(form);
    const type = String(encoded.headers.get('content-type'));
    const body = Buffer.from(await encoded.arrayBuffer());
    return { next: async () => ({ method: 'POST', path: '/api/v1/imports/preview', type, body }) };
  },
});

/** A procedure: every tenth paragraph is a heading, three of ten are items of a list; all have words in bold. */
function createFile(): Promise<Buffer> {
  const body = Array.from({ length: paragraphs }, (_, at) => {
    const list = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>';
    const heading = `<w:pPr><w:pStyle w:val="h${at % 50 === 0 ? 1 : 2}"/></w:pPr>`;
    const properties = at % 10 === 0 ? heading : at % 10 > 6 ? list : '';
    const text = `Close valve ${at} and wait until the pressure has fallen below 3 bar. `;
    return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text.repeat(2)}</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>Never open it ${at} times.</w:t></w:r></w:p>`;
  }).join('');
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const toRels = (...all: string[][]) =>
    `<Relationships xmlns="${packages}/relationships">${all.map(([id, target]) => `<Relationship Id="${id}" Type="${relationshipTypes}/${id}" Target="${target}"/>`).join('')}</Relationships>`;
  const toStyle = (level: number) =>
    `<w:style w:type="paragraph" w:styleId="h${level}"><w:name w:val="heading ${level}"/></w:style>`;
  const toType = (name: string, kind: string) =>
    `<Override PartName="/word/${name}.xml" ContentType="${wordType}.${kind}+xml"/>`;
  const parts: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${toType('document', 'document.main')}${toType('styles', 'styles')}${toType('numbering', 'numbering')}</Types>`,
    '_rels/.rels': toRels(['officeDocument', 'word/document.xml']),
    'word/_rels/document.xml.rels': toRels(['styles', 'styles.xml'], ['numbering', 'numbering.xml']),
    'word/document.xml': `<w:document ${w}><w:body>${body}</w:body></w:document>`,
    'word/styles.xml': `<w:styles ${w}>${toStyle(1)}${toStyle(2)}</w:styles>`,
    'word/numbering.xml': `<w:numbering ${w}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
  };
  return pack(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)]));
}
