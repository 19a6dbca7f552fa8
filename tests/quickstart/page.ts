/** Reads the code blocks of docs/quickstart.md. */
import { readFile } from 'node:fs/promises';

/** A code block. */
export interface CodeBlock {
  /** The heading above it. */
  section: string;
  language: string;
  text: string;
}

/** Returns the code blocks of the page in their order. */
export async function readQuickStart(): Promise<CodeBlock[]> {
  const text = await readFile(new URL('../../docs/quickstart.md', import.meta.url), 'utf8');
  return text.split(/^## /m).flatMap((part) => {
    const section = part.split('\n', 1)[0] ?? '';
    return [...part.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
      section,
      language,
      text: code,
    }));
  });
}
