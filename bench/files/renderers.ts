/** Renderers for a Word file of a sample: the service's, the baseline's and those of two libraries. */
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import type { CompiledTemplate } from '../../services/export/formats/template.ts';
import { type Block, baselineMarkup, corporateStyles, escapeXml } from './baseline-markup.ts';
import type { Sample, SampleNode } from './sample.ts';

/** Input of a renderer: the sample, and the corporate template as uploaded and as compiled by the service. */
export interface RenderInput {
  sample: Sample;
  template: Buffer;
  compiled: CompiledTemplate;
}

/** The renderers by name. Each one imports its libraries itself. */
export const renderers = {
  baseline: renderBaseline,
  service: renderService,
  patchDocument: renderPatchDocument,
  docxtemplater: renderDocxtemplater,
} as const;

/** Replaces the placeholders in the parts of the archive and zips all parts again. */
async function renderBaseline({ sample, template }: RenderInput): Promise<Uint8Array> {
  const zip = await fromBufferPromise(template);
  const result = new ZipFile();
  const written = buffer(result.outputStream);
  for await (const entry of zip.eachEntry()) {
    const stream = await zip.openReadStreamPromise(entry);
    if (!entry.fileName.endsWith('.xml')) {
      result.addBuffer(await buffer(stream), entry.fileName);
      continue;
    }
    const xml = getValues(sample).reduce(
      (filled, [name, value]) => filled.replaceAll(`{{${name}}}`, escapeXml(value)),
      await text(stream),
    );
    const [before = '', after] = xml.split(/<w:p>(?:(?!<w:p>).)*?\{\{content\}\}.*?<\/w:p>/s);
    const parts = after === undefined ? [xml] : generateBody(before, sample, after);
    result.addReadStream(Readable.from(parts, { objectMode: false }), entry.fileName);
  }
  result.end();
  return written;
}

function* generateBody(before: string, sample: Sample, after: string): Generator<string> {
  yield before;
  yield* baselineMarkup(sample);
  yield after;
}

async function renderService({ sample, compiled }: RenderInput): Promise<Uint8Array> {
  const { renderWord } = await import('../../services/export/formats/word.ts');
  const toNode = (node: SampleNode): Parameters<typeof renderWord>[0]['nodes'][number] => ({
    id: node.title,
    node_type: node.node_type,
    title: node.title,
    get content() {
      return JSON.parse(node.content);
    },
    children: node.children.map(toNode),
  });
  const record = {
    ...{ id: '1', status: 'published' as const, superseded_by: '', owner: 'Ada', editor: '', url: '' },
    ...{ exported_at: '', created_at: sample.published_at, updated_at: sample.published_at, history: [] },
    ...{ content_hash: '', change_summary: '', approved_at: '', approved_by: '', review_due: '' },
  };
  const document = { ...sample, approved_at: null, record, nodes: sample.nodes.map(toNode) };
  return renderWord(document, compiled, { indentInches: 0.5 });
}

async function renderPatchDocument({ sample, template }: RenderInput): Promise<Uint8Array> {
  const { Paragraph, patchDocument, PatchType, Table, TableCell, TableRow, TextRun } = await import('docx');
  const runs = (leaves: Block[] = []) =>
    leaves.map(({ text: words = '', marks = [] }) => {
      const has = (mark: string) => marks.some(({ type }) => type === mark);
      return new TextRun({ text: words, bold: has('bold'), italics: has('italic') });
    });
  const plain = (block: Block) => new Paragraph({ children: runs(block.content) });
  type WordBlock = InstanceType<typeof Paragraph | typeof Table>;
  const blocks = ({ type, content = [] }: Block): WordBlock[] => {
    switch (type) {
      case 'bulletList':
      case 'orderedList': {
        const [style] = corporateStyles.lists[type];
        return content.map((item) => new Paragraph({ style, children: runs(item.content?.[0]?.content) }));
      }
      case 'blockquote':
        return content.map(
          (inner) => new Paragraph({ style: corporateStyles.quote, children: runs(inner.content) }),
        );
      case 'table': {
        const cells = (all: Block[] = []) =>
          all.map((cell) => new TableCell({ children: (cell.content ?? []).map(plain) }));
        const rows = content.map((row) => new TableRow({ children: cells(row.content) }));
        return [new Table({ style: corporateStyles.table, rows })];
      }
      default:
        return [plain({ type, content })];
    }
  };
  const whole = ({ node_type, title, content, children }: SampleNode): WordBlock[] => {
    const { content: own = [] }: Block = JSON.parse(content);
    const heading = new Paragraph({
      style: corporateStyles.headings[node_type],
      children: [new TextRun(title)],
    });
    return [heading, ...own.flatMap(blocks), ...children.flatMap(whole)];
  };
  const values = getValues(sample).map(
    ([name, value]) => [name, { type: PatchType.PARAGRAPH, children: [new TextRun(value)] }] as const,
  );
  return patchDocument({
    outputType: 'nodebuffer',
    data: template,
    patches: {
      ...Object.fromEntries(values),
      content: { type: PatchType.DOCUMENT, children: sample.nodes.flatMap(whole) },
    },
  });
}

/**
 * Templates of docxtemplater insert markup by `{@content}`. The library generates none, so it gets the
 * baseline's.
 */
async function renderDocxtemplater({ sample, template }: RenderInput): Promise<Uint8Array> {
  const [{ default: PizZip }, { default: Docxtemplater }] = await Promise.all([
    import('pizzip'),
    import('docxtemplater'),
  ]);
  const zip = new PizZip(template);
  const main = 'word/document.xml';
  zip.file(main, zip.file(main)?.asText().replace('{{content}}', '{{@content}}') ?? '');
  const document = new Docxtemplater(zip, { delimiters: { start: '{{', end: '}}' } });
  document.render({
    ...Object.fromEntries(getValues(sample)),
    content: [...baselineMarkup(sample)].join(''),
  });
  return document.toBuffer({ compression: 'DEFLATE' });
}

function getValues({ nodes: _nodes, ...facts }: Sample): [string, string][] {
  return Object.entries(facts);
}
