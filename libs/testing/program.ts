/** Finds programs that tests need and that may be missing on a machine. */
import { constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage, isAccessible, printLine } from './debian.ts';

/** The path of the first of these programs that is on the PATH; undefined if there is none. */
export async function findOnPath(...names: string[]): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return findExecutable(names.flatMap((name) => folders.map((folder) => join(folder, name))));
}

/** The first of these files that is executable. */
export async function findExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isAccessible(path, constants.X_OK)) return path;
  return undefined;
}

/**
 * The path of an optional program, from the PATH or the folders in `also`. If it is missing, prints what was
 * not tested and returns undefined. If `CI` is set, installs its package (`from`) instead, and rejects if
 * that fails.
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
    printLine(`NOT TESTED: ${purpose}, because ${name} is missing (package ${from}).`);
    return undefined;
  }
  await installPackage(from, purpose);
  const installed = await find();
  if (installed) return installed;
  throw new Error(`The tests need ${name}. Install the package ${from}.`);
}
