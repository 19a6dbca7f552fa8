/** Imports the files of a folder for `pds push`. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Client } from '../client.ts';
import { createOnce } from './create-once.ts';
import { readBases, toChecksum, toContent, writeBases, writeDocumentFile } from './document-files.ts';
import { FileError } from './exit-codes.ts';
import { assertWritable } from './files.ts';
import {
  findImportFiles,
  findUnsupportedFiles,
  formatImportReport,
  type ImportOptions,
  isImportable,
  isUnsupported,
  previewFile,
  toDocumentPath,
  toUpload,
  toUploadChecksum,
} from './import-files.ts';
import { isCopy } from './markdown-copy.ts';
import { publishDraft } from './publish-draft.ts';

/** The files to import: the path itself, or those of the folder. The service says why it refuses a document. */
export async function findImports(path: string): Promise<string[]> {
  if (isImportable(path) || isUnsupported(path)) return [path];
  return (await isFolder(path)) ? findImportFiles(path) : [];
}

/** The documents of a folder that cannot be imported. A file has none. */
export async function findUnsupported(path: string): Promise<string[]> {
  return (await isFolder(path)) ? findUnsupportedFiles(path) : [];
}

/** How files are imported. */
export interface PushImportOptions extends ImportOptions {
  isDryRun: boolean;
  /** Whether the draft is published, too. */
  isPublished: boolean;
  /** The document files that several of the imported files would become. */
  ambiguous: ReadonlySet<string>;
}

/** Finds the document files that several of the files to import would become. */
export function findAmbiguous(imports: readonly string[]): Set<string> {
  const seen = new Set<string>();
  return new Set(
    imports.map(toDocumentPath).filter((path) => {
      const isRepeated = seen.has(path);
      seen.add(path);
      return isRepeated;
    }),
  );
}

/**
 * Creates a draft from a file, and writes its document file beside the file. Rejects with a `PublishError` if only
 * publishing fails.
 */
export async function pushImport(
  client: Client,
  path: string,
  { isDryRun, isPublished, ambiguous, ...options }: PushImportOptions,
): Promise<{ id?: string; message: string }> {
  const documentPath = toDocumentPath(path);
  const documentName = basename(documentPath);
  if (await exists(documentPath))
    throw new FileError(`${documentName} is the document of this name. Push that, or rename this file.`);
  // only one of them would be imported, and the next push would not say so
  if (ambiguous.has(documentPath))
    throw new FileError(`Several files would become ${documentName}. Rename all but one of them.`);
  if (await isCopy(path, await readBases(dirname(path))))
    throw new FileError(
      '`pds pull` wrote this copy of a document. `pds import` creates a new document from it.',
    );
  if (isDryRun || path.toLowerCase().endsWith('.zip')) {
    const { documents, report } = await previewFile(client, path, options);
    // a library has no document file, so each push would import it again
    if (documents.length !== 1)
      throw new FileError('The file is a library. `pds import` creates its documents.');
    if (isDryRun) return { message: formatImportReport(report).join('\n') };
  }
  // else each push would create another document
  await assertWritable(documentPath);
  const folder = dirname(path);
  const bases = await readBases(folder);
  const body = await toUpload(path, options);
  const checksum = await toUploadChecksum(body);
  const draft = await createOnce({
    ...{ client, path, bases, checksum },
    async send(idempotencyKey) {
      const { data, isReplayed } = await client.withResponse.createImport({ body }, { idempotencyKey });
      const [created] = data.documents;
      if (!created) throw new FileError('The import created no draft.');
      return { id: created.id, report: data.report, isReplayed };
    },
  });
  const { data, etag } = await client.withResponse.getDocument({ doc_id: draft.id });
  const content = toContent(data);
  const record = async (current: string | undefined, isPublishPending: boolean) => {
    if (current === undefined) return;
    const mark = isPublishPending ? { publish_pending: true as const } : {};
    bases.set(draft.id, { etag: current, checksum: toChecksum(content), ...mark });
    bases.delete(basename(path));
    await writeBases(folder, bases);
  };
  // at once, so that a later push does not create a second document
  await writeDocumentFile({ path: documentPath, id: draft.id, content });
  await record(etag, isPublished);
  if (isPublished) await record(await publishDraft(client, draft.id, etag), false);
  return { id: draft.id, message: formatImportReport(draft.report).join('\n') };
}

/** Finds the subfolders of a folder, which a push does not read. A file has none. */
export async function findSubfolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => join(path, name));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
