/** Documents as files: a JSON file with the tree for each, and what was known when it was last pulled or pushed. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Document, Node, NodeInput } from '../generated/contract.ts';
import { CommandError } from './exit-codes.ts';
import { replaceFile } from './files.ts';

/** What a file says about a document; its id is apart. */
export interface DocumentContent {
  title: string;
  version: string | null;
  department: string | null;
  language: string | null;
  nodes: NodeInput[];
}

/** A file of a document. */
export interface DocumentFile {
  path: string;
  /** Undefined for a document that the service does not have yet. */
  id: string | undefined;
  content: DocumentContent;
}

/** The state in which the service and the file were equal. */
export interface Base {
  etag: string;
  checksum: string;
  /** The checksum of the Markdown copy that pull wrote; undefined if it wrote none. */
  markdown?: string;
  /** Set by push, whose changes the Markdown copy does not have yet. */
  markdown_outdated?: true;
  /** Set by push before it publishes this draft, and removed afterwards. The next push publishes such a draft. */
  publish_pending?: true;
  /**
   * The key of a request that creates the draft of a new file, until the file has its id. Such a base has the name of
   * the file in place of an id. The next push repeats the request, and gets the draft if there is one.
   */
  idempotency_key?: string;
}

/** The bases of a folder's documents by their ids, or by the names of files without one. */
export type Bases = Map<string, Base>;

const basesFile = '.pds.json';
/** File systems allow names of 255 bytes, and a name may get the end of an id. */
const maxSlugBytes = 180;
const documentFile = /\.json$/i;
const fields = ['id', 'title', 'version', 'department', 'language', 'nodes'];

/** Lists the names of the files in a folder, without its subfolders. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
}

/** Reads all document files of a folder, or only the file if the path is one. Rejects if one is not valid. */
export async function readDocumentFiles(path: string): Promise<DocumentFile[]> {
  if (documentFile.test(path)) return [await readDocumentFile(path)];
  const names = await listFiles(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR')
      throw new CommandError(`${path} is neither a folder nor a .json, Word, Markdown or HTML file.`);
    throw new CommandError(`Cannot read the folder ${path}: ${error.message}`);
  });
  const selected = names.filter(isDocumentName).sort();
  const files = await Promise.all(selected.map((name) => readDocumentFile(join(path, name))));
  assertDifferentIds(files);
  return files;
}

/** Returns the path of a file in the folder that has this id. Files that are not documents are skipped. */
export async function findDocumentFile(folder: string, id: string): Promise<string | undefined> {
  for (const name of (await listFiles(folder)).filter(isDocumentName)) {
    const path = join(folder, name);
    const file = await readDocumentFile(path).catch(() => undefined);
    if (file?.id === id) return path;
  }
  return undefined;
}

function isDocumentName(name: string): boolean {
  return documentFile.test(name) && !name.startsWith('.');
}

/** Throws a `CommandError` if two files have the same id. */
export function assertDifferentIds(files: readonly DocumentFile[]): void {
  const paths = new Map<string, string>();
  for (const { id, path: file } of files.filter(({ id }) => id !== undefined)) {
    const other = paths.get(id ?? '');
    if (other !== undefined)
      throw new CommandError(`${other} and ${file} have the same id. Remove it from one of them.`);
    paths.set(id ?? '', file);
  }
}

async function readDocumentFile(path: string): Promise<DocumentFile> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`Cannot read ${path}: ${error.message}`);
  });
  let value: unknown;
  try {
    value = JSON.parse(decode(path, bytes));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} is not valid JSON: ${(error as Error).message}`, 1, { cause: error });
  }
  return { path, ...toDocument(path, value) };
}

/** Decodes UTF-8, without the byte order mark with which editors of Windows begin a file. */
function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(`${path} is not UTF-8. Save it in this encoding.`, 1, { cause: error });
  }
}

function toDocument(path: string, value: unknown): Pick<DocumentFile, 'id' | 'content'> {
  const invalid = (what: string) =>
    new CommandError(`${path} is not a document file: ${what}. See docs/cli.md.`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('it must be an object');
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw invalid(`the field "${unknown}" is unknown`);
  const {
    id,
    title,
    version = null,
    department = null,
    language = null,
    nodes = [],
  } = value as Record<string, unknown>;
  if (id !== undefined && typeof id !== 'string') throw invalid('"id" must be a text');
  // no request can contain these
  if (id !== undefined && /^\.{0,2}$/.test(id)) throw invalid(`"id" cannot be "${id}"`);
  if (typeof title !== 'string') throw invalid('"title" must be a text');
  for (const [name, text] of Object.entries({ version, department, language }))
    if (text !== null && typeof text !== 'string') throw invalid(`"${name}" must be a text or null`);
  if (!Array.isArray(nodes)) throw invalid('"nodes" must be a list');
  // the service checks the tree
  return { id, content: { title, version, department, language, nodes } as DocumentContent };
}

/** Writes the file of a document in one step. */
export async function writeDocumentFile({ path, id, content }: DocumentFile): Promise<void> {
  await replaceFile(path, `${JSON.stringify({ id, ...content }, null, 2)}\n`);
}

/** The content of a document of the service, as a file has it: without most ids, and with the order as position. */
export function toContent({ title, version, department, language, nodes }: Document): DocumentContent {
  return { title, version, department, language, nodes: nodes.map(toNodeInput) };
}

function toNodeInput({ lineage_id, node_type, title, content, children }: Node): NodeInput {
  return {
    lineage_id,
    node_type,
    title,
    ...(content && { content }),
    ...(children.length > 0 && { children: children.map(toNodeInput) }),
  };
}

/** A checksum that is equal for equal contents, whatever the order of fields in the file. */
export function toChecksum(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortFields(content)))
    .digest('hex');
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sortFields(inner)]),
  );
}

/** Reads the bases of a folder. A missing file has none. */
export async function readBases(folder: string): Promise<Bases> {
  const path = join(folder, basesFile);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new CommandError(`Cannot read ${path}: ${error.message}`);
  });
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  try {
    const bases: unknown = JSON.parse(text);
    if (isObject(bases) && Object.values(bases as object).every(isObject))
      return new Map(Object.entries(bases as Record<string, Base>));
  } catch {
    // reported below
  }
  throw new CommandError(`${path} is damaged. Delete it, and pull again.`);
}

/** Writes the bases of a folder. */
export async function writeBases(folder: string, bases: Bases): Promise<void> {
  await replaceFile(join(folder, basesFile), `${JSON.stringify(Object.fromEntries(bases), null, 2)}\n`);
}

/** A file name for a title: lower-case letters and digits of any script, joined by dashes. */
export function toSlug(title: string): string {
  const slug = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
  let short = [...slug].slice(0, 60);
  while (Buffer.byteLength(short.join('')) > maxSlugBytes) short = short.slice(0, -1);
  return short.join('').replace(/-+$/, '') || 'document';
}

/** Names that Windows reserves for devices, with any extension. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The path of a new file for a document: its slug, with the end of the id if the name is in use or reserved, and with a
 * number if that is in use too. `used` has names in lower case, because some file systems do not tell cases apart.
 */
export function toNewPath(
  folder: string,
  { id, title }: { id: string; title: string },
  used: Set<string>,
): string {
  const slug = toSlug(title);
  const isFree = (name: string) => !used.has(name) && !used.has(`${name}.json`) && !deviceName.test(name);
  // the id comes from the server, and must not lead to another folder
  const end =
    id
      .toLowerCase()
      .replaceAll(/[^0-9a-z-]/g, '')
      .slice(-12) || '2';
  let name = isFree(slug) ? slug : `${slug}-${end}`;
  for (let number = 2; !isFree(name); number += 1) name = `${slug}-${end}-${number}`;
  used.add(name);
  return join(folder, `${name}.json`);
}

/** The name of a file without its folder and its extension. */
export function toBaseName(path: string): string {
  return basename(path).replace(documentFile, '');
}
