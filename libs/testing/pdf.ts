/** Reads PDF files in tests with poppler: the text of each page, and the pictures on it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOrInstall } from './debian.ts';
import { findOnPath } from './program.ts';

/** A page of a PDF file. */
export interface PdfPage {
  /** The text in its layout, line by line. */
  text: string;
  /** The numbers of the picture objects on the page; a picture that continues on the next page is on both. */
  pictures: string[];
}

/** Reads the pages of a PDF file. */
export async function readPdf(bytes: Uint8Array): Promise<PdfPage[]> {
  const [readText, listImages] = await Promise.all([findPoppler('pdftotext'), findPoppler('pdfimages')]);
  const folder = await mkdtemp(join(tmpdir(), 'pds-pdf-'));
  try {
    const path = join(folder, 'page.pdf');
    await writeFile(path, bytes);
    const run = async (program: string, ...args: string[]) =>
      (await promisify(execFile)(program, args, { maxBuffer: 2 ** 26 })).stdout;
    const text = await run(readText, '-layout', '-enc', 'UTF-8', path, '-');
    const rows = (await run(listImages, '-list', path)).split('\n').map((line) => line.trim().split(/\s+/));
    const pages = text.split('\f').slice(0, -1);
    return pages.map((one, at) => ({
      text: one,
      pictures: rows.flatMap(([page, , type, , , , , , , , object]) =>
        page === `${at + 1}` && type === 'image' && object ? [object] : [],
      ),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function findPoppler(name: string): Promise<string> {
  return findOrInstall(() => findOnPath(name), 'poppler-utils', `${name} for the tests`);
}
