/** The pictures that a Markdown or HTML file names and that are in its folder. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix, relative } from 'node:path';
import { FileError } from './exit-codes.ts';

/** The service imports the first three kinds, and reports the others as not supported. */
const picture = /\.(png|jpe?g|gif|svg|webp|bmp)$/i;

/** The target of a Markdown picture, of a link or of its definition: in angle brackets or without spaces. */
const markdownTarget = /\](?:\(|:)\s*(?:<([^<>\n]*)>|((?:\\.|[^\s\\()]|\((?:\\.|[^\s\\()])*\))+))/g;
const sourceAttribute = /\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are rejected
const unsafe = /[\\\u0000-\u001f\ufffd]|^[a-z]:|(^|\/)\.+(\/|$)/i;

/** Returns false for a name that the service rejects in a zip. */
export function isSafeName(name: string): boolean {
  return !unsafe.test(name);
}

/**
 * Reads the pictures that the text of the file at `path` names, by their paths from its folder. Missing ones and those
 * outside of the folder are left out. Rejects if they have more than `maxBytes`.
 */
export async function readLocalPictures(
  path: string,
  text: string,
  maxBytes: number,
): Promise<Map<string, Uint8Array>> {
  const folder = await realpath(dirname(path));
  const pictures = new Map<string, Uint8Array>();
  let left = maxBytes;
  for (const name of findNames(text)) {
    const file = await findFile(folder, name);
    if (!file) continue;
    left -= file.size;
    if (left < 0)
      throw new FileError(
        `The pictures of the file have more than ${Math.floor(maxBytes / 1024 / 1024)} MiB. Make them smaller, or split the file.`,
      );
    const bytes = await readFile(file.path).catch((error: NodeJS.ErrnoException) => {
      throw new FileError(`Cannot read ${file.path}: ${error.message}`);
    });
    pictures.set(name, bytes);
  }
  return pictures;
}

/** The names of pictures in a text, each once in any case, because the service does not tell cases apart. */
function findNames(text: string): Iterable<string> {
  const names = new Map<string, string>();
  const add = (target: string) => {
    const name = toName(target.replaceAll('&amp;', '&'));
    if (name !== undefined && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  };
  for (const [, inBrackets, bare] of text.matchAll(markdownTarget))
    add((inBrackets ?? bare ?? '').replaceAll(/\\([!-/:-@[-`{-~])/g, '$1'));
  for (const [, double, single, bare] of text.matchAll(sourceAttribute)) add(double ?? single ?? bare ?? '');
  return names.values();
}

/** The path of a picture from the folder, with slashes; undefined for an address and for a path out of the folder. */
function toName(target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return undefined;
  const path = decode(target.replace(/[?#].*$/s, '').trim()).replace(/^\//, '');
  const name = posix.normalize(path);
  return picture.test(name) && isSafeName(name) ? name : undefined;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Finds a file. A link to a file outside of the folder is not followed. */
async function findFile(folder: string, name: string): Promise<{ path: string; size: number } | undefined> {
  const path = await realpath(join(folder, name)).catch(() => undefined);
  if (path === undefined) return undefined;
  const inside = relative(folder, path);
  if (inside.startsWith('..') || isAbsolute(inside)) return undefined;
  const file = await stat(path).catch(() => undefined);
  return file?.isFile() ? { path, size: file.size } : undefined;
}
