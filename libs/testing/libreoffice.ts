/** Runs LibreOffice in tests, to read Word files with an independent program. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { findOrInstall, printLine } from './debian.ts';
import { findExecutable, findOnPath } from './program.ts';
import { slowness } from './until.ts';

const convertMs = 240_000 * slowness;

/** Prints Word files as PDF with LibreOffice; returns their text and layout (poppler) by file name. */
export async function printedText(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, string>> {
  const reader = await findOrInstall(
    () => findOnPath('pdftotext'),
    'poppler-utils',
    'pdftotext for the tests',
  );
  const folder = await mkdtemp(join(tmpdir(), 'pds-office-'));
  try {
    await printToPdf(files, folder);
    const texts = new Map<string, string>();
    for (const name of files.keys()) {
      const text = join(folder, `${name}.txt`);
      await promisify(execFile)(reader, ['-layout', '-enc', 'UTF-8', join(folder, `${name}.pdf`), text]);
      texts.set(name, await readFile(text, 'utf8'));
    }
    return texts;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Prints Word files with LibreOffice, as `<name>.pdf` in a folder, which also has its profile afterwards. */
export async function printToPdf(files: ReadonlyMap<string, Uint8Array>, folder: string): Promise<void> {
  const libreOffice = await findOrInstallLibreOffice();
  await findOrInstall(findArial, 'fonts-liberation', 'A font with the widths of Arial for the tests');
  printLine(`LibreOffice for the tests: ${libreOffice}.`);
  const paths = [];
  for (const [name, bytes] of files) {
    const path = join(folder, `${name}.docx`);
    await writeFile(path, bytes);
    paths.push(path);
  }
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`;
  const args = ['--headless', '--norestore', profile, '--convert-to', 'pdf', '--outdir', folder, ...paths];
  await promisify(execFile)(libreOffice, args, { timeout: convertMs });
}

/** The path of LibreOffice; installs it if it is missing. Rejects if that fails. */
export function findOrInstallLibreOffice(): Promise<string> {
  return findOrInstall(findLibreOffice, 'libreoffice-writer-nogui', 'LibreOffice for the tests');
}

/** Returns LibreOffice's font for Arial, if it has the same widths. Without one, lines break elsewhere. */
async function findArial(): Promise<string | undefined> {
  const lister = await findOnPath('fc-match');
  // without fontconfig, as on macOS, the system has the font itself
  if (!lister) return 'Arial';
  const { stdout } = await promisify(execFile)(lister, ['--format=%{family}', 'Arial']);
  return /Arial|Liberation Sans|Arimo/.test(stdout) ? stdout : undefined;
}

const defaultPaths = ['/Applications/LibreOffice.app/Contents/MacOS/soffice'];

async function findLibreOffice(): Promise<string | undefined> {
  return (
    process.env.SOFFICE_PATH || (await findOnPath('soffice', 'libreoffice')) || findExecutable(defaultPaths)
  );
}
