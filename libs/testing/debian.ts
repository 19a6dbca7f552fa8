/** Installs missing packages for tests, if the process runs as root on Debian or a derivative. */
import { execFile } from 'node:child_process';
import { access, constants, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { slowness } from './until.ts';

/**
 * Installs a package with apt-get and prints that it does; does nothing without permission. Never rejects:
 * check the result.
 */
export async function installPackage(name: string, purpose: string): Promise<void> {
  const isAllowed = process.getuid?.() === 0 && (await isAccessible('/etc/debian_version'));
  if (!isAllowed) return;
  printLine(`${purpose}: installing ${name} with apt-get.`);
  await withoutServices(async () => {
    await apt('update').catch(() => {});
    await apt('install', '-y', '--no-install-recommends', name).catch((error: Error) =>
      printLine(`apt-get failed: ${error.message.split('\n')[0]}`),
    );
  });
}

/** The path of a program; installs its package if it is missing. Rejects if that fails. */
export async function findOrInstall(
  find: () => Promise<string | undefined>,
  packageName: string,
  purpose: string,
): Promise<string> {
  const found = await find();
  if (found) return found;
  await installPackage(packageName, purpose);
  const installed = await find();
  if (installed) return installed;
  throw new Error(`${purpose} is missing. Install it (Debian package: ${packageName}).`);
}

/** Whether a file or folder is accessible in a mode, e.g. `constants.X_OK`; by default, whether it exists. */
export function isAccessible(path: string, mode: number = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** Prints a line to stderr for the user who runs the tests. */
export function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

function apt(...args: string[]): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // test files run in parallel: the second process waits for the lock
  return promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=240', ...args], {
    env,
    timeout: 300_000 * slowness,
  });
}

/** Prevents packages from starting services: invoke-rc.d obeys policy-rc.d, exit code 101 forbids it. */
async function withoutServices(work: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  // does not replace an existing file, which an administrator created
  const isCreated = await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  await work().finally(() => isCreated && rm(policy, { force: true }));
}
