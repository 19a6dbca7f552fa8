/** Installs what tests lack, where that is allowed: as root on a system of the Debian family. */
import { execFile } from 'node:child_process';
import { access, constants, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Installs a package with apt-get, saying so in one line; does nothing where it may not. Whether it worked shows in what is there then. */
export async function installPackage(name: string, purpose: string): Promise<void> {
  const may = process.getuid?.() === 0 && (await isAccessible('/etc/debian_version'));
  if (!may) return;
  printLine(`${purpose}: installing ${name} with apt-get.`);
  await withoutServices(async () => {
    await apt('update').catch(() => {});
    await apt('install', '-y', '--no-install-recommends', name).catch((error: Error) =>
      printLine(`apt-get failed: ${error.message.split('\n')[0]}`),
    );
  });
}

/** Whether there is a file or a folder, which may also be asked for by how it can be used, e.g. `constants.X_OK`. */
export function isAccessible(path: string, mode: number = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** Says a line to whoever runs the tests. */
export function printLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

function apt(...args: string[]): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // test files run side by side: whoever comes second waits
  return promisify(execFile)('apt-get', ['-o', 'DPkg::Lock::Timeout=240', ...args], {
    env,
    timeout: 300_000,
  });
}

/** Keeps packages from starting services of their own (deb-policy: invoke-rc.d asks policy-rc.d, 101 forbids). */
async function withoutServices(work: () => Promise<void>): Promise<void> {
  const policy = '/usr/sbin/policy-rc.d';
  // one that is there already was somebody's decision
  const isOurs = await writeFile(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  await work().finally(() => isOurs && rm(policy, { force: true }));
}
