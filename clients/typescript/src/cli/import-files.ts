/** Files that the service imports: which ones a folder has, and how they are sent. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Client } from '../client.ts';
import type { ImportReport } from '../generated/contract.ts';
import { FileError } from './exit-codes.ts';

const importable = /\.(docx|md|markdown|html?|zip)$/i;
/** Pages about the folder itself, which many repositories have. */
const aboutFolder = /^(readme|changelog|contributing|license|security)\./i;

/** Returns true for the name of a file that the service imports. */
export function isImportable(name: string): boolean {
  return importable.test(name) && !basename(name).startsWith('.');
}

/** The path of the document file that belongs to an imported file. */
export function toDocumentPath(path: string): string {
  return path.replace(importable, '.json');
}

/** Finds the files of a folder to import: those without a document file of the same name. */
export async function findImportFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const known = new Set(names);
  const isNew = (name: string) =>
    isImportable(name) && !aboutFolder.test(name) && !known.has(toDocumentPath(name));
  return names
    .filter(isNew)
    .sort()
    .map((name) => join(folder, name));
}

/** How a file is imported. */
export interface ImportOptions {
  acceptChanges: boolean;
}

/** Shows what an import would create. */
export async function previewFile(client: Client, path: string, options: ImportOptions) {
  return client.previewImport({ body: await toUpload(path, options) });
}

/** Creates drafts from a file. */
export async function importFile(client: Client, path: string, options: ImportOptions) {
  return client.createImport({ body: await toUpload(path, options) });
}

/** Reads a file. Its name tells the service the format. */
async function toUpload(path: string, { acceptChanges }: ImportOptions) {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileError(`Cannot read ${path}: ${error.message}`);
  });
  return {
    file: new File([bytes], basename(path)),
    tracked_changes: acceptChanges ? ('accept' as const) : ('refuse' as const),
  };
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
