/** Creates zip archives and minimal Word files for tests, valid and invalid ones. */
import { crc32, deflateRawSync } from 'node:zlib';
import { unpack } from '#libs/opc';
import type { RichText } from '#libs/rich-text';
import type { DocumentRecord, ExportNode, WordDocument } from '../../services/export/formats/document.ts';
import { type CompiledTemplate, compileTemplate } from '../../services/export/formats/template.ts';
import { renderWord } from '../../services/export/formats/word.ts';

/** An entry of a zip; the optional fields override what the archive declares about it. */
export type Entry = {
  name: string;
  data: string | Uint8Array;
  method?: number;
  flags?: number;
  size?: number;
  packedSize?: number;
  crc?: number;
  localName?: string;
  /** Index of an earlier entry whose local header this entry refers to, instead of its own. */
  sharesBytesOf?: number;
};

/** Creates a zip with exactly these entries. */
export function zip(entries: Entry[]): Buffer {
  const chunks: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let position = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data as Uint8Array); // a string is read as UTF-8
    const method = entry.method ?? 8;
    const compressed = method === 8 ? deflateRawSync(data) : data;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(entry.flags ?? 0x800, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(entry.crc ?? crc32(data), 10);
    fields.writeUInt32LE(entry.packedSize ?? compressed.length, 14);
    fields.writeUInt32LE(entry.size ?? data.length, 18);
    const localName = Buffer.from(entry.localName ?? entry.name);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, localName, compressed]);
    local.writeUInt16LE(localName.length, 26);
    const offset = entry.sharesBytesOf === undefined ? position : (offsets[entry.sharesBytesOf] ?? 0);
    offsets.push(offset);
    if (entry.sharesBytesOf === undefined) {
      chunks.push(local);
      position += local.length;
    }
    const name = Buffer.from(entry.name);
    const head = Buffer.alloc(46);
    head.write('PK\x01\x02', 'latin1');
    head.writeUInt16LE(20, 4);
    fields.copy(head, 6);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt32LE(offset, 42);
    directory.push(head, name);
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(position, 16);
  return Buffer.concat([...chunks, central, end]);
}

export const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
export const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const RELS = 'http://schemas.openxmlformats.org/package/2006/relationships';
export const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

/** Creates a relationships part from `[id, type, target, mode]`; a type without a slash is Office's own. */
export function rels(...all: [string, string, string, string?][]): string {
  const render = ([id, type, target, mode]: (typeof all)[number]) =>
    `<Relationship Id="${id}" Type="${type.includes('/') ? type : `${R}/${type}`}" Target="${target}"${mode ? ` TargetMode="${mode}"` : ''}/>`;
  return `<Relationships xmlns="${RELS}">${all.map(render).join('')}</Relationships>`;
}

/** Creates the content types of a Word file; `more` adds overrides by part name. */
export function types(more: Record<string, string> = {}): string {
  const all = { '/word/document.xml': `${WORD_TYPE}.document.main+xml`, ...more };
  return (
    `<Types xmlns="${TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="bin" ContentType="application/octet-stream"/>' +
    `${Object.entries(all)
      .map(([name, type]) => `<Override PartName="${name}" ContentType="${type}"/>`)
      .join('')}</Types>`
  );
}

/** Creates a main part with this content of its body. */
export function body(inner: string): string {
  return `<w:document xmlns:w="${W}" xmlns:r="${R}"><w:body>${inner}</w:body></w:document>`;
}

/** Creates a paragraph with one run; `properties` is the markup of its properties. */
export function p(text: string, properties = ''): string {
  return `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
}

/** Creates the parts of a minimal Word file; `more` adds or replaces parts by name. */
export function parts(inner: string, more: Record<string, string> = {}): Entry[] {
  const all: Record<string, string> = {
    '[Content_Types].xml': types(),
    '_rels/.rels': rels(['rId1', 'officeDocument', 'word/document.xml']),
    'word/document.xml': body(inner),
    ...more,
  };
  return Object.entries(all).map(([name, data]) => ({ name, data }));
}

/** Creates a minimal Word file; `more` adds or replaces parts by name. */
export function docx(inner: string, more: Record<string, string> = {}): Buffer {
  return zip(parts(inner, more));
}

/** Compiles a template; throws an error with its fault if it is rejected. */
export async function compile(file: Uint8Array): Promise<CompiledTemplate> {
  const compilation = await compileTemplate(file);
  if (!compilation.ok) throw new Error(`${compilation.fault.code}: ${compilation.fault.message}`);
  return compilation.template;
}

/** Returns the fault code of an upload, or "accepted". */
export async function checkUpload(file: Uint8Array): Promise<string> {
  const compilation = await compileTemplate(file);
  return compilation.ok ? 'accepted' : compilation.fault.code;
}

/** Creates a document with these nodes; `more` overrides its default properties. */
export function createDocument(nodes: ExportNode[] = [], more: Partial<WordDocument> = {}): WordDocument {
  const properties = {
    title: 'Pay',
    version: '1.2',
    department: 'Ops',
    published_at: '2026-11-21T09:30:00.000Z',
    approved_at: null,
  };
  return { ...properties, organization: 'Aldermoor', record: createRecord(), nodes, ...more };
}

/** Creates the record of a published document; `more` overrides its fields. */
export function createRecord(more: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    id: '01900000-0000-7000-8000-000000000001',
    status: 'published',
    superseded_by: '',
    owner: 'Ada Lovelace',
    editor: 'Bo Chen',
    url: 'https://docs.example.org/embed/aldermoor/token',
    exported_at: '2026-11-24',
    created_at: '2026-10-01T08:00:00.000Z',
    updated_at: '2026-11-20T16:45:00.000Z',
    ...{ content_hash: '', change_summary: '', approved_at: '', approved_by: '', review_due: '' },
    history: [
      { version: '1.0', published_at: '2026-10-05T10:00:00.000Z', published_by: 'Ada Lovelace' },
      { version: '1.2', published_at: '2026-11-21T09:30:00.000Z', published_by: 'Bo Chen' },
    ],
    ...more,
  };
}

/** Creates a section with this content; `more` overrides its other fields. */
export function createNode(
  title: string,
  content: RichText[] = [],
  more: Partial<ExportNode> = {},
): ExportNode {
  return { id: title, node_type: 'section', title, content: { type: 'doc', content }, children: [], ...more };
}

/** Creates a paragraph of rich text. */
export function createParagraph(text: string, ...marks: RichText['marks'] & object): RichText {
  return { type: 'paragraph', content: [{ type: 'text', text, ...(marks.length > 0 ? { marks } : {}) }] };
}

/** Renders a document and returns the parts of the file as text. */
export async function renderParts(
  document: WordDocument,
  template: CompiledTemplate,
  indentInches = 0.5,
): Promise<Record<string, string>> {
  const found = await unpack(await renderWord(document, template, { indentInches }));
  return Object.fromEntries([...found].map(([name, bytes]) => [name, Buffer.from(bytes).toString('utf8')]));
}

/** Returns the visible text of a part, one line for each paragraph. */
export function getText(xml = ''): string {
  return xml
    .replace(/<w:instrText[^>]*>[^<]*<\/w:instrText>/g, '')
    .replaceAll('</w:p>', '\n')
    .replace(/<[^>]+>/g, '')
    .trim();
}
