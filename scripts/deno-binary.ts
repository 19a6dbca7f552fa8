/** Where Deno is: the real binary, because the wrapper in node_modules/.bin does not pass signals on. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '..', 'node_modules', '@deno');

/** Its path; rejects with a sentence when it is not installed. */
export async function denoBinary(): Promise<string> {
  const platforms = await readdir(folder).catch(() => []);
  const found = platforms.map((one) => join(folder, one, 'deno')).find((file) => existsSync(file));
  if (!found) throw new Error('There is no Deno under node_modules/@deno: run npm ci.');
  return found;
}
