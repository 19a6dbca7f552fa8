/** Imports the files of a folder for `pds push`. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '../client.ts';
import { readBases, toChecksum, toContent, writeBases, writeDocumentFile } from './document-files.ts';
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

/** Creates drafts from a file. If it is one draft, its document file is written beside the file. */
export async function pushImport(
  client: Client,
  path: string,
  { isDryRun, acceptChanges }: { isDryRun: boolean; acceptChanges: boolean },
): Promise<{ id?: string; message: string }[]> {
  if (isDryRun) {
    const body = {
      file: await readImportFile(path),
      tracked_changes: acceptChanges ? 'accept' : 'refuse',
    } as const;
    const { documents, report } = await client.previewImport({ body });
    return documents.map(() => ({ message: formatImportReport(report).join('\n') }));
  }
  const { documents, report } = await importFile(client, path, { acceptChanges });
  const message = formatImportReport(report).join('\n');
  for (const { id } of documents.length === 1 ? documents : []) {
    const { data, etag } = await client.withResponse.getDocument({ doc_id: id });
    const folder = dirname(path);
    const [content, bases] = [toContent(data), await readBases(folder)];
    // at once, so that a later push does not create a second document
    await writeDocumentFile({ path: toDocumentPath(path), id, content });
    if (etag !== undefined) bases.set(id, { etag, checksum: toChecksum(content) });
    await writeBases(folder, bases);
  }
  return documents.map(({ id }) => ({ id, message }));
}
