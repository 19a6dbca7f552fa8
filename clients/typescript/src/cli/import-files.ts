/** Files that the service imports: which ones a folder has, and how they are sent. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client } from '../client.ts';
import type { ImportReport } from '../generated/contract.ts';
import { listFiles, readBases } from './document-files.ts';
import { FileError } from './exit-codes.ts';
import { isSafeName, readLocalPictures } from './local-pictures.ts';
import { isCopy } from './markdown-copy.ts';
import { createZip } from './zip.ts';

const importable = /\.(docx|md|markdown|html?|zip)$/i;
const texts = /\.(md|markdown|html?)$/i;
/** Documents of other programs, which can save them as .docx. */
const unsupported = /\.(doc|docm|odt|rtf)$/i;
/** Pages about the folder itself, which many repositories have. */
const aboutFolder = /^(readme|changelog|contributing|license|security)\./i;

/** Returns true for the name of a file that the service imports. */
export function isImportable(name: string): boolean {
  return importable.test(name) && !isHidden(name) && !isLockFile(name);
}

/** Returns true for the name of a document that has to be saved in another format first. */
export function isUnsupported(name: string): boolean {
  return unsupported.test(name) && !isHidden(name) && !isLockFile(name);
}

/** Returns true for the name of a file that Word has beside a document while it is open. */
export function isLockFile(name: string): boolean {
  return basename(name).startsWith('~$');
}

function isHidden(name: string): boolean {
  return basename(name).startsWith('.');
}

/** The path of the document file that belongs to an imported file. */
export function toDocumentPath(path: string): string {
  return path.replace(importable, '.json').replace(unsupported, '.json');
}

/** Finds the files of a folder to import: those without a document file of the same name, and no copies of pull. */
export async function findImportFiles(folder: string): Promise<string[]> {
  const paths = await findFiles(folder, isImportable);
  const bases = await readBases(folder);
  const copies = await Promise.all(paths.map((path) => isCopy(path, bases)));
  return paths.filter((_, at) => !copies[at]);
}

/** Finds the documents of a folder to save in another format first, unless they have a document file already. */
export async function findUnsupportedFiles(folder: string): Promise<string[]> {
  return findFiles(folder, isUnsupported);
}

async function findFiles(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await listFiles(folder);
  const known = new Set(names.map((name) => name.replace(/\.json$/i, '.json')));
  return names
    .filter((name) => isWanted(name) && !aboutFolder.test(name) && !known.has(toDocumentPath(name)))
    .sort()
    .map((name) => join(folder, name));
}

/** How a file is imported. */
export interface ImportOptions {
  acceptChanges: boolean;
}

/** The body of an import. */
export interface Upload {
  file: File;
  tracked_changes: 'accept' | 'refuse';
}

/** Shows what an import would create. */
export async function previewFile(client: Client, path: string, options: ImportOptions) {
  return client.previewImport({ body: await toUpload(path, options) });
}

/** Creates drafts from a file. */
export async function importFile(client: Client, path: string, options: ImportOptions) {
  return client.createImport({ body: await toUpload(path, options) });
}

/** The most bytes of the pictures of a text. The zip may have 30 MiB, and the text of it 2 MiB. */
const maxPictureBytes = 27 * 1024 * 1024;

/** Reads a file. Its name tells the service the format. A text with pictures beside it becomes a zip. */
export async function toUpload(path: string, { acceptChanges }: ImportOptions): Promise<Upload> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileError(`Cannot read ${path}: ${error.message}`);
  });
  const name = basename(path);
  // the service does not read a hidden file of a zip
  const fitsInZip = texts.test(name) && !isHidden(name) && isSafeName(name);
  const pictures = fitsInZip
    ? await readLocalPictures(path, bytes.toString(), maxPictureBytes)
    : new Map<string, Uint8Array>();
  const file =
    pictures.size === 0
      ? new File([bytes], name)
      : new File([createZip(new Map([[name, bytes], ...pictures]))], `${name}.zip`);
  return { file, tracked_changes: acceptChanges ? 'accept' : 'refuse' };
}

/** A checksum of what is sent. */
export async function toUploadChecksum({ file, tracked_changes }: Upload): Promise<string> {
  return createHash('sha256')
    .update(JSON.stringify([file.name, tracked_changes]))
    .update(new Uint8Array(await file.arrayBuffer()))
    .digest('hex');
}

/** What a report says, one line for each drop and warning. */
export function formatImportReport({ nodes, pictures, dropped, warnings }: ImportReport): string[] {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  return [
    `${count(nodes, 'node')}, ${count(pictures, 'picture')}`,
    ...dropped.map(({ what, count: times }) => `left out: ${what} (${times})`),
    ...warnings.map(({ message, path }) => `warning: ${message}${path === '' ? '' : ` (${path})`}`),
  ];
}
