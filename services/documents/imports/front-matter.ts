/** Reads the front matter of a Markdown file: fields in YAML between two lines `---` at its beginning. */
import { parseDocument } from 'yaml';
import type { Facts } from './fact-line.ts';

/** What the front matter says; null for what it does not say. */
export interface FrontMatter extends Facts {
  title: string | null;
}

/** Longer front matter is read as Markdown, characters. */
const maxLength = 64 * 1024;

const block = /^---[ \t]*\r?\n(.*?\n)?---[ \t]*(?:\r?\n|$)/s;

/** Takes the front matter off a file. Without fields between its first lines `---`, the text is all Markdown. */
export function takeFrontMatter(text: string): { frontMatter?: FrontMatter; markdown: string } {
  const [whole = '', yaml = ''] = block.exec(text.slice(0, maxLength)) ?? [];
  const fields = whole === '' ? undefined : parseFields(yaml);
  if (!fields) return { markdown: text };
  const get = (name: string, limit: number) => toLine(fields[name], limit);
  // a title of any length is cut later
  const title = get('title', Number.POSITIVE_INFINITY);
  const frontMatter = { title, version: get('version', 64), department: get('department', 200) };
  return { frontMatter, markdown: text.slice(whole.length) };
}

/** Returns the fields of a mapping, whose values are strings or collections; undefined if it is none. */
function parseFields(yaml: string): Record<string, unknown> | undefined {
  // without types, the version 1.10 is not the number 1.1
  const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent' });
  if (document.errors.length > 0) return undefined;
  try {
    const value: unknown = document.toJS();
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    // it refers to itself
    return undefined;
  }
}

/** Returns a text in one line; null if it is empty, longer than `limit` or no text. */
function toLine(value: unknown, limit: number): string | null {
  const line = typeof value === 'string' ? value.replace(/[\s\p{Cc}]+/gu, ' ').trim() : '';
  return line === '' || [...line].length > limit ? null : line;
}
