/** Converts a file to the documents that an import creates. Runs in a worker. */
import { basename, extname } from 'node:path';
import type { Root } from 'hast';
import { fromHast, maxRichTextBytes } from '#libs/rich-text';
import { maxContentBytes, maxNodes } from '../rules/hierarchy.ts';
import type { TreeInput } from '../shapes.ts';
import { readArchive } from './archive.ts';
import { type Facts, takeFacts } from './fact-line.ts';
import { type FrontMatter, takeFrontMatter } from './front-matter.ts';
import { parseHtml } from './html.ts';
import { type ImportFault, ImportRejected, rejectImport, rejectSize } from './import-fault.ts';
import { readLibrary } from './library.ts';
import { parseMarkdown } from './markdown.ts';
import { addNotes, type Notes, takeNotes } from './notes.ts';
import { readOutline } from './outline.ts';
import { readOwnPage } from './own-page.ts';
import { type FindPicture, type ImportedPicture, PictureCollector } from './pictures.ts';
import { type ImportFormat, type ImportReport, ReportCollector } from './report.ts';
import { createParagraph, cutTitle, type SplitNode, splitBlocks } from './split.ts';
import { convertWord } from './word/word.ts';
import { isWordPackage } from './word/word-package.ts';

/** A file to import. The extension of its name tells Markdown from HTML. */
export interface ImportFile {
  name: string;
  bytes: Uint8Array;
  acceptChanges: boolean;
}

/** A document to create: the body of `createDocument`, with rich text as JSON text. */
export interface ImportedDocument extends Facts {
  title: string;
  /** Null unless the file is a library. */
  language: string | null;
  nodes: TreeInput[];
}

/** The documents of a file, their pictures, and what the caller should know. */
export interface ConvertedFile {
  documents: ImportedDocument[];
  pictures: ImportedPicture[];
  report: ImportReport;
}

/** The result of a conversion. */
export type Conversion = { ok: true; file: ConvertedFile } | { ok: false; fault: ImportFault };

/** The maximum size of a Markdown or HTML file, bytes. */
const maxTextBytes = 2 * 1024 * 1024;

/** Converts a Word, Markdown or HTML file, or a zip with one of the latter. */
export async function convertFile(file: ImportFile): Promise<Conversion> {
  const report = new ReportCollector();
  try {
    return { ok: true, file: await readFile(file, report) };
  } catch (error) {
    if (error instanceof ImportRejected) return { ok: false, fault: error.fault };
    // the tree of a file is deeper than the stack
    if (error instanceof RangeError)
      return {
        ok: false,
        fault: { reason: 'malformed', message: 'The file is nested too deep. Simplify it.' },
      };
    throw error;
  }
}

interface SourceTree {
  format: ImportFormat;
  /** The title if the file has none: its name without extension. */
  fallbackTitle: string;
  tree: Root;
  /** Whether a line of facts may follow the title. */
  hasFacts: boolean;
  frontMatter?: FrontMatter | undefined;
  find: FindPicture;
}

/** Recognizes Word files, zips and libraries by their content; the name of any other file tells its format. */
async function readFile(file: ImportFile, report: ReportCollector): Promise<ConvertedFile> {
  const { name, bytes } = file;
  const isArchive = startsWith(bytes, [0x50, 0x4b, 0x03, 0x04]);
  if (startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0]) || (isArchive && (await isWordPackage(bytes))))
    return toDocuments(await readWord(file, report), report);
  if (!isArchive) return toDocuments({ ...readText(name, bytes, report), find: () => undefined }, report);
  const archive = await readArchive(bytes);
  if (!('library' in archive))
    return toDocuments(
      { ...readText(archive.name, archive.bytes, report), format: 'zip', find: archive.find },
      report,
    );
  const { documents, pictures, nodes } = await readLibrary(archive.library);
  const counts = { documents: documents.length, nodes, pictures: pictures.length };
  return { documents, pictures, report: { format: 'library', ...counts, ...report.toReport() } };
}

async function readWord(
  { name, bytes, acceptChanges }: ImportFile,
  report: ReportCollector,
): Promise<SourceTree> {
  const { tree, pictures } = await convertWord(bytes, { acceptChanges, report });
  const find: FindPicture = (src) => {
    const at = /^picture:(\d+)$/.exec(src)?.[1];
    return at === undefined ? undefined : pictures[Number(at)];
  };
  return { format: 'docx', fallbackTitle: toFallbackTitle(name), tree, hasFacts: false, find };
}

function readText(name: string, bytes: Uint8Array, report: ReportCollector): Omit<SourceTree, 'find'> {
  const format = getTextFormat(name);
  if (!format)
    return rejectImport(
      'unknown_format',
      'The content is not that of a Word file or zip, and the name does not end in .md or .html. Upload a .docx, .md, .html or .zip file.',
    );
  if (bytes.byteLength > maxTextBytes)
    return rejectSize(
      'file_too_large',
      'The text is larger than 2 MiB. Split the file, or send its pictures in a zip.',
    );
  const text = decodeText(bytes);
  const fallbackTitle = toFallbackTitle(name);
  if (format === 'html') return { format, fallbackTitle, tree: parseHtml(text), hasFacts: false };
  const { frontMatter, fault, markdown } = takeFrontMatter(text);
  if (frontMatter) report.drop('front_matter');
  if (fault) report.warn('front_matter_invalid', { detail: fault });
  return { format, fallbackTitle, tree: parseMarkdown(markdown), hasFacts: true, frontMatter };
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return rejectImport('not_utf8', 'The file is not UTF-8. Save it with the encoding UTF-8.');
  }
}

function toDocuments(source: SourceTree, report: ReportCollector): ConvertedFile {
  const notes = takeNotes(source.tree);
  const own = readOwnPage(source.tree);
  const { frontMatter } = source;
  const { title: heading, blocks } =
    own ?? readOutline(source.tree, { maxTitleLevel: frontMatter?.title ? 1 : 6 });
  const title = heading ?? frontMatter?.title ?? undefined;
  const facts = own?.facts ?? (source.hasFacts && title !== undefined ? takeFacts(blocks) : undefined);
  const pictures = new PictureCollector(source.find, report);
  if (title === undefined && !blocks.some((block) => 'heading' in block)) report.warn('no_headings', {});
  const document = title === undefined ? source.fallbackTitle : title || 'Untitled';
  if (title === '') report.warn('untitled', {});
  const cut = cutTitle(document);
  if (cut !== document) {
    report.warn('title_cut', { detail: document });
    blocks.unshift({ content: createParagraph(document) });
  }
  const builder = new NodeBuilder(notes, pictures, report);
  const nodes = splitBlocks(blocks, report, { notes, keepsNumbers: own !== undefined }).map((node) =>
    builder.build(node),
  );
  const found = pictures.list();
  return {
    documents: [
      {
        title: cut,
        version: facts?.version ?? frontMatter?.version ?? null,
        department: facts?.department ?? frontMatter?.department ?? null,
        ...{ language: null, nodes },
      },
    ],
    pictures: found,
    report: {
      ...{ format: source.format, documents: 1, nodes: builder.nodes, pictures: found.length },
      ...report.toReport(),
    },
  };
}

/** Converts the content of nodes, within the limits of an import. */
class NodeBuilder {
  nodes = 0;
  private bytes = 0;
  private readonly notes: Notes;
  private readonly pictures: PictureCollector;
  private readonly report: ReportCollector;

  constructor(notes: Notes, pictures: PictureCollector, report: ReportCollector) {
    this.notes = notes;
    this.pictures = pictures;
    this.report = report;
  }

  build({ nodeType, title, path, content, children }: SplitNode): TreeInput {
    this.nodes += 1;
    if (this.nodes > maxNodes)
      return rejectSize('too_many_nodes', `The file has more than ${maxNodes} headings. Split it.`);
    let isFlattened = false;
    const blocks = fromHast(addNotes(content, this.notes), {
      toImage: (element) => this.pictures.toImage(element, path),
      onDrop: (what) => this.report.drop(what),
      onFlatten: () => {
        // once for each node: a deep list has many parts
        if (!isFlattened) this.report.warn('flattened', { path, detail: title });
        isFlattened = true;
      },
    });
    const text = blocks.length === 0 ? null : JSON.stringify({ type: 'doc', content: blocks });
    if (text !== null) this.count(Buffer.byteLength(text), title);
    return {
      node_type: nodeType,
      title,
      content: text,
      children: children.map((child) => this.build(child)),
    };
  }

  private count(bytes: number, title: string): void {
    this.bytes += bytes;
    if (bytes > maxRichTextBytes)
      rejectSize('content_too_large', `The text of "${title}" is larger than 512 KiB. Add headings.`);
    if (this.bytes > maxContentBytes)
      rejectSize('import_too_large', 'The text of the file is larger than 32 MiB. Split it.');
  }
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, at) => bytes[at] === byte);
}

function getTextFormat(name: string): 'markdown' | 'html' | undefined {
  const extension = extname(name).toLowerCase();
  if (extension === '.md' || extension === '.markdown') return 'markdown';
  return extension === '.html' || extension === '.htm' ? 'html' : undefined;
}

function toFallbackTitle(name: string): string {
  const base = basename(name.replaceAll('\\', '/'));
  const title = base
    .slice(0, base.length - extname(base).length)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return title || 'Untitled';
}
