/** The Markdown copy of a document beside its file. Pull writes it, and never replaces a file of the user. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Bases } from './document-files.ts';
import { FileError } from './exit-codes.ts';
import { replaceFile } from './files.ts';

/** What is at the path of a copy: nothing, the file that pull wrote, or a file of the user. */
export type CopyState = 'missing' | 'written' | 'own';

/** Compares the file at a path with the checksum of the copy that was written last. */
export async function readCopyState(path: string, recorded: string | undefined): Promise<CopyState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    throw new FileError(`Cannot read ${path}: ${message}`);
  }
  return toTextChecksum(text) === recorded ? 'written' : 'own';
}

/**
 * Returns true for a Markdown file as pull wrote it, also if its document has another file or none any more. `bases`
 * are those of its folder.
 */
export async function isCopy(path: string, bases: Bases): Promise<boolean> {
  if (!/\.md$/i.test(path)) return false;
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  const checksum = toTextChecksum(text);
  return [...bases.values()].some(({ markdown }) => markdown === checksum);
}

/** Writes a copy. Returns its checksum. */
export async function writeCopy(path: string, bytes: Uint8Array): Promise<string> {
  await replaceFile(path, bytes);
  return toTextChecksum(Buffer.from(bytes).toString());
}

function toTextChecksum(text: string): string {
  // Git on Windows changes the ends of lines
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
