/** The ways to make a Word file of a sample: ours, the least code that could, and two libraries. */
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import type { CompiledTemplate } from '../../services/export/formats/template.ts';
import { type Block, corporate, escaped, plainMarkup } from './plain.ts';
import type { Sample, SampleNode } from './sample.ts';

/** What a way is given: the corporate template as it is, and as our compile step has made it. */
export interface Given {
  sample: Sample;
  template: Buffer;
  compiled: CompiledTemplate;
}

/** The ways by name; each loads what it needs itself. */
export const ways = {
  floor: fileOfFloor,
  ours: fileOfOurs,
  patchDocument: fileOfPatchDocument,
  docxtemplater: fileOfDocxtemplater,
} as const;

/** Text is put into the parts of the zip, and all is zipped again. */
async function fileOfFloor({ sample, template }: Given): Promise<Uint8Array> {
  const zip = await fromBufferPromise(template);
  const result = new ZipFile();
  const written = buffer(result.outputStream);
  for await (const entry of zip.eachEntry()) {
    const stream = await zip.openReadStreamPromise(entry);
    if (!entry.fileName.endsWith('.xml')) {
      result.addBuffer(await buffer(stream), entry.fileName);
      continue;
    }
    const xml = valuesOf(sample).reduce(
      (filled, [name, value]) => filled.replaceAll(`{{${name}}}`, escaped(value)),
      await text(stream),
    );
    const [before = '', after] = xml.split(/<w:p>(?:(?!<w:p>).)*?\{\{content\}\}.*?<\/w:p>/s);
    const pieces = after === undefined ? [xml] : pieced(before, sample, after);
    result.addReadStream(Readable.from(pieces, { objectMode: false }), entry.fileName);
  }
  result.end();
  return written;
}

function* pieced(before: string, sample: Sample, after: string): Generator<string> {
  yield before;
  yield* plainMarkup(sample);
  yield after;
}

async function fileOfOurs({ sample, compiled }: Given): Promise<Uint8Array> {
  const { renderWord } = await import('../../services/export/formats/word.ts');
  const whole = (node: SampleNode): Parameters<typeof renderWord>[0]['nodes'][number] => ({
    id: node.title,
    node_type: node.node_type,
    title: node.title,
    get content() {
      return JSON.parse(node.content);
    },
    children: node.children.map(whole),
  });
  return renderWord({ ...sample, nodes: sample.nodes.map(whole) }, compiled, { indentInches: 0.5 });
}

async function fileOfPatchDocument({ sample, template }: Given): Promise<Uint8Array> {
  const { Paragraph, patchDocument, PatchType, Table, TableCell, TableRow, TextRun } = await import('docx');
  const runs = (leaves: Block[] = []) =>
    leaves.map(({ text: words = '', marks = [] }) => {
      const has = (mark: string) => marks.some(({ type }) => type === mark);
      return new TextRun({ text: words, bold: has('bold'), italics: has('italic') });
    });
  const plain = (block: Block) => new Paragraph({ children: runs(block.content) });
  type Made = InstanceType<typeof Paragraph | typeof Table>;
  const blocks = ({ type, content = [] }: Block): Made[] => {
    switch (type) {
      case 'bulletList':
      case 'orderedList': {
        const [style] = corporate.lists[type];
        return content.map((item) => new Paragraph({ style, children: runs(item.content?.[0]?.content) }));
      }
      case 'blockquote':
        return content.map(
          (inner) => new Paragraph({ style: corporate.quote, children: runs(inner.content) }),
        );
      case 'table': {
        const cells = (all: Block[] = []) =>
          all.map((cell) => new TableCell({ children: (cell.content ?? []).map(plain) }));
        const rows = content.map((row) => new TableRow({ children: cells(row.content) }));
        return [new Table({ style: corporate.table, rows })];
      }
      default:
        return [plain({ type, content })];
    }
  };
  const whole = ({ node_type, title, content, children }: SampleNode): Made[] => {
    const { content: own = [] }: Block = JSON.parse(content);
    const heading = new Paragraph({ style: corporate.headings[node_type], children: [new TextRun(title)] });
    return [heading, ...own.flatMap(blocks), ...children.flatMap(whole)];
  };
  const values = valuesOf(sample).map(
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

/** Its templates ask for markup by `{@content}`; the markup is the floor's, as the library makes none. */
async function fileOfDocxtemplater({ sample, template }: Given): Promise<Uint8Array> {
  const [{ default: PizZip }, { default: Docxtemplater }] = await Promise.all([
    import('pizzip'),
    import('docxtemplater'),
  ]);
  const zip = new PizZip(template);
  const main = 'word/document.xml';
  zip.file(main, zip.file(main)?.asText().replace('{{content}}', '{{@content}}') ?? '');
  const document = new Docxtemplater(zip, { delimiters: { start: '{{', end: '}}' } });
  document.render({ ...Object.fromEntries(valuesOf(sample)), content: [...plainMarkup(sample)].join('') });
  return document.toBuffer({ compression: 'DEFLATE' });
}

function valuesOf({ nodes: _nodes, ...facts }: Sample): [string, string][] {
  return Object.entries(facts);
}
