/** LibreOffice for tests: what a Word file looks like in a program that is not ours. */
import { execFile } from 'node:child_process';
import { access, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { installPackage } from './debian.ts';

const convertMs = 240_000;

/** The text of Word files as they are printed, by their names: LibreOffice makes them PDF, poppler reads the text with its layout. */
export async function printed(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, string>> {
  const office = await program('soffice', 'libreoffice-writer-nogui', 'LibreOffice for the tests');
  const reader = await program('pdftotext', 'poppler-utils', 'A reader of PDF for the tests');
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

/** Where a program is, which is installed if need be. */
async function program(name: string, from: string, purpose: string): Promise<string> {
  const found = await onPath(name);
  if (found) return found;
  await installPackage(from, purpose);
  const installed = await onPath(name);
  if (installed) return installed;
  throw new Error(`There is no ${name} for the tests: install the package ${from}.`);
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}
