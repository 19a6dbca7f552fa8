/** LibreOffice for tests: what a Word file looks like in a program that is not ours. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { installPackage, printLine } from './debian.ts';
import { findExecutable, findOnPath } from './program.ts';

const convertMs = 240_000;

/** The text of Word files as they are printed, by their names: LibreOffice makes them PDF, poppler reads the text with its layout. */
export async function printedText(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, string>> {
  const office = await findOrInstall(
    findLibreOffice,
    'libreoffice-writer-nogui',
    'LibreOffice for the tests',
  );
  const reader = await findOrInstall(
    () => findOnPath('pdftotext'),
    'poppler-utils',
    'pdftotext for the tests',
  );
  printLine(`LibreOffice for the tests: ${office}.`);
  const folder = await mkdtemp(join(tmpdir(), 'pds-office-'));
  try {
    const paths = [];
    for (const [name, bytes] of files) {
      const path = join(folder, `${name}.docx`);
      await writeFile(path, bytes);
      paths.push(path);
    }
    const own = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
    const args = ['--headless', '--norestore', own, '--convert-to', 'pdf', '--outdir', folder, ...paths];
    await promisify(execFile)(office, args, { timeout: convertMs });
    const found = new Map<string, string>();
    for (const name of files.keys()) {
      const text = join(folder, `${name}.txt`);
      await promisify(execFile)(reader, ['-layout', '-enc', 'UTF-8', join(folder, `${name}.pdf`), text]);
      found.set(name, await readFile(text, 'utf8'));
    }
    return found;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const usualPlaces = ['/Applications/LibreOffice.app/Contents/MacOS/soffice'];

async function findLibreOffice(): Promise<string | undefined> {
  return (
    process.env.SOFFICE_PATH || (await findOnPath('soffice', 'libreoffice')) || findExecutable(usualPlaces)
  );
}

/** Where a program is, which is installed if need be. */
async function findOrInstall(
  find: () => Promise<string | undefined>,
  from: string,
  purpose: string,
): Promise<string> {
  const found = await find();
  if (found) return found;
  await installPackage(from, purpose);
  const installed = await find();
  if (installed) return installed;
  throw new Error(`${purpose} is not there: install it (on Debian: ${from}).`);
}
