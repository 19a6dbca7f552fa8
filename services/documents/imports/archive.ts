/** Reads a zip with one Markdown or HTML file and its pictures, or with a library. */
import { posix } from 'node:path';
import { type PackageFaultCode, PackageRejected, type Parts, type UnpackLimits, unpack } from '#libs/opc';
import { manifestPath } from '../library-archive.ts';
import { rejectImport } from './import-fault.ts';
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
    const { code } = error.fault;
    return rejectPackage(
      code,
      messages[code] ?? 'The zip has entries that programs do not write. Create it again.',
    );
  }
}

/** What to do with a zip; the messages of the package reader are about Word files. */
const messages: Partial<Record<PackageFaultCode, string>> = {
  damaged: 'The zip is damaged or incomplete. Download or create it again.',
  encrypted: 'The zip is encrypted. Create it without a password.',
  too_large: 'The zip is larger than 30 MiB. Make its pictures smaller.',
  too_many_parts: 'The zip has more than 5,000 entries. Split it.',
  unpacked_too_large: 'The zip unpacks to more than 100 MiB. Split it.',
  bomb: 'The zip unpacks to far more than its size. Split it.',
};

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
    return name === undefined ? undefined : { bytes: parts.get(name) };
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
