/** Updates the files of the project that a hand-written page includes. */
import { readFile } from 'node:fs/promises';

/** Returns the page with the current contents of the files in its `<!-- from … -->` blocks. */
export async function renderPageWithFiles(path: string): Promise<string> {
  const at = new URL(path, new URL('..', import.meta.url));
  const blocks = /<!-- from (\S+) -->\n```(\w+)\n[\s\S]*?```/g;
  const text = await readFile(at, 'utf8');
  const names = [...text.matchAll(blocks)].map(([, name = '']) => name);
  const contents = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, at), 'utf8')] as const)),
  );
  return text.replaceAll(
    blocks,
    (_, name: string, language: string) =>
      `<!-- from ${name} -->\n\`\`\`${language}\n${contents.get(name)}\`\`\``,
  );
}
