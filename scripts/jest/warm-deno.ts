/** Compiles the services for Deno, so that no test waits for a cold cache. */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { denoBinary } from '../deno-binary.ts';

const root = join(import.meta.dirname, '../..');

/** Fills Deno's cache and prints a line. Takes less than a second if the cache is warm. */
export async function warmDeno(): Promise<void> {
  process.stderr.write('Compiling the services for Deno …\n');
  const mains = globSync('services/*/main.ts', { cwd: root });
  await promisify(execFile)(await denoBinary(), ['cache', '--quiet', ...mains], { cwd: root });
}
