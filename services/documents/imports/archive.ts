/** Reads a zip with one Markdown or HTML file and its pictures, or with a library. */
import { posix } from 'node:path';
import { PackageRejected, type Parts, type UnpackLimits, unpack } from '#libs/opc';
import { manifestPath } from '../library-archive.ts';
import { rejectImport, rejectSize } from './import-fault.ts';
import type { FindPicture } from './pictures.ts';
import { rejectPackage } from './word/word-package.ts';

const MIB = 1024 * 1024;

const limits: UnpackLimits = {
  fileBytes: 30 * MIB,
  entries: 5_000,
  unpackedBytes: 100 * MIB,
  ratio: 100,
  ratioFromBytes: MIB,
};

/** The one text file of an archive, and its pictures by their `src`. */
export interface ArchivedText {
  name: string;
  bytes: Uint8Array;
  find: FindPicture;
}

/** Returns the text file, or the files of a library. Errors: `ImportRejected`, also for no text file or several. */
export async function readArchive(file: Uint8Array): Promise<ArchivedText | { library: Parts }> {
  const parts = await unpackArchive(file);
  if (parts.has(manifestPath)) return { library: parts };
  const texts = [...parts.keys()].filter((name) => /\.(md|markdown|html?)$/i.test(name) && !isHidden(name));
  const [name] = texts;
  if (name === undefined)
    return rejectImport(
      'unknown_format',
      'The zip has no .md or .html file. Add one, or upload a .docx file.',
    );
  if (texts.length > 1)
    return rejectImport(
      'several_documents',
      'The zip has several .md or .html files. Upload them one by one.',
    );
  return { name, bytes: parts.get(name) ?? new Uint8Array(), find: createFinder(parts, name) };
}

async function unpackArchive(file: Uint8Array): Promise<Parts> {
  try {
    return await unpack(file, limits);
  } catch (error) {
    if (!(error instanceof PackageRejected)) throw error;
    if (error.fault.code === 'too_large')
      return rejectSize('file_too_large', 'The zip is larger than 30 MiB. Make its pictures smaller.');
    return rejectPackage(error.fault.code, error.message);
  }
}

/** Files that macOS and version control add. */
function isHidden(name: string): boolean {
  return name.split('/').some((segment) => segment.startsWith('.') || segment === '__MACOSX');
}

/** A picture is found by its path from the text file, or from the top of the archive. */
function createFinder(parts: Parts, text: string): FindPicture {
  const names = new Map([...parts.keys()].map((name) => [name.toLowerCase(), name]));
  return (src) => {
    if (src === '' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(src)) return undefined;
    const path = decode(src.replace(/[?#].*$/s, ''));
    const relative = posix.join('/', posix.dirname(text), path).slice(1);
    const name = names.get((path.startsWith('/') ? path.slice(1) : relative).toLowerCase());
    return { bytes: name === undefined ? undefined : parts.get(name) };
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
