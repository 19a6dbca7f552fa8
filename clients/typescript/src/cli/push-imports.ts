/** Imports the files of a folder for `pds push`. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Client } from '../client.ts';
import { readBases, toChecksum, toContent, writeBases, writeDocumentFile } from './document-files.ts';
import { FileError } from './exit-codes.ts';
import {
  findImportFiles,
  formatImportReport,
  importFile,
  isImportable,
  readImportFile,
  toDocumentPath,
} from './import-files.ts';

/** The files to import: the path itself, or those of the folder. */
export async function findImports(path: string): Promise<string[]> {
  if (isImportable(path)) return [path];
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
  return isFolder ? findImportFiles(path) : [];
}

/** Creates a draft from a file, and writes its document file beside the file. `used` are the document files so far. */
export async function pushImport(
  client: Client,
  path: string,
  { isDryRun, acceptChanges, used }: { isDryRun: boolean; acceptChanges: boolean; used: Set<string> },
): Promise<{ id?: string; message: string }> {
  const documentPath = toDocumentPath(path);
  if (used.has(documentPath) || (await exists(documentPath)))
    throw new FileError(`${basename(documentPath)} belongs to this name already. Rename the file.`);
  if (isDryRun || path.toLowerCase().endsWith('.zip')) {
    const body = {
      file: await readImportFile(path),
      tracked_changes: acceptChanges ? 'accept' : 'refuse',
    } as const;
    const { documents, report } = await client.previewImport({ body });
    // a later push could not tell that the documents exist
    if (documents.length !== 1)
      throw new FileError('The file is a library. `pds import` creates its documents.');
    used.add(documentPath);
    if (isDryRun) return { message: formatImportReport(report).join('\n') };
  }
  const { documents, report } = await importFile(client, path, { acceptChanges });
  const message = formatImportReport(report).join('\n');
  const [{ id } = { id: '' }] = documents;
  const { data, etag } = await client.withResponse.getDocument({ doc_id: id });
  const folder = dirname(path);
  const [content, bases] = [toContent(data), await readBases(folder)];
  // at once, so that a later push does not create a second document
  await writeDocumentFile({ path: documentPath, id, content });
  if (etag !== undefined) bases.set(id, { etag, checksum: toChecksum(content) });
  await writeBases(folder, bases);
  return { id, message };
}

/** Finds the subfolders of a folder, which a push does not read. */
export async function findSubfolders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .map(({ name }) => join(path, name));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
