/** Finds the Deno binary. The wrapper in node_modules/.bin does not forward signals, so it is not used. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '..', 'node_modules', '@deno');

/** Returns the path of the binary. Rejects if Deno is not installed. */
export async function denoBinary(): Promise<string> {
  const platforms = await readdir(folder).catch(() => []);
  const found = platforms.map((platform) => join(folder, platform, 'deno')).find((file) => existsSync(file));
  if (!found) throw new Error('Deno was not found in node_modules/@deno. Run npm ci.');
  return found;
}
