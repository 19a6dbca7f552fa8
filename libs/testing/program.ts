/** Programs that tests need and that a machine may lack. */
import { constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage, isAccessible, printLine } from './debian.ts';

/** Where a program is on the PATH, the first of these names that is there. */
export async function findOnPath(...names: string[]): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return findExecutable(names.flatMap((name) => folders.map((folder) => join(folder, name))));
}

/** The first of these files that can be run. */
export async function findExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isAccessible(path, constants.X_OK)) return path;
  return undefined;
}

/**
 * Where a program is whose absence is no mistake of who runs the tests: without it a line says what was not tested, and
 * nothing is given. Where `CI` is set everything is tested: it is installed if need be, or this rejects.
 */
export async function findTestProgram(
  name: string,
  { also, purpose, from }: { from: string; purpose: string; also?: readonly string[] },
): Promise<string | undefined> {
  const find = async () =>
    (await findOnPath(name)) ?? findExecutable((also ?? []).map((folder) => join(folder, name)));
  const found = await find();
  if (found) return found;
  if (!process.env.CI) {
    printLine(`NOT TESTED: ${purpose}, because there is no ${name} here (package ${from}).`);
    return undefined;
  }
  await installPackage(from, purpose);
  const installed = await find();
  if (installed) return installed;
  throw new Error(`There is no ${name} for the tests: install the package ${from}.`);
}
