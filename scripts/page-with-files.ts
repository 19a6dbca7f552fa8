/** Pages that are written by hand and show files of the project. */
import { readFile } from 'node:fs/promises';

/** A page that is written by hand, with the files that it shows as they are now. */
export async function pageWithFiles(path: string): Promise<string> {
  const at = new URL(path, new URL('..', import.meta.url));
  const blocks = /<!-- from (\S+) -->\n```(\w+)\n[\s\S]*?```/g;
  const text = await readFile(at, 'utf8');
  const names = [...text.matchAll(blocks)].map(([, name = '']) => name);
  const shown = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, at), 'utf8')] as const)),
  );
  return text.replaceAll(
    blocks,
    (_, name: string, language: string) =>
      `<!-- from ${name} -->\n\`\`\`${language}\n${shown.get(name)}\`\`\``,
  );
}
