/** Reads the front matter of a Markdown file: fields in YAML between two lines `---` at its beginning. */
import { type Document, parseDocument } from 'yaml';
import { maxDepartmentLength, maxVersionLength } from '../shapes.ts';
import type { Facts } from './fact-line.ts';

/** What the front matter says; null for what it does not say. */
export interface FrontMatter extends Facts {
  title: string | null;
}

/** The maximum length of front matter in UTF-16 units. A longer one stays in the Markdown. */
const maxLength = 64 * 1024;

/** Two lines `---` and the YAML between them. */
const block = /^---[ \t]*\r?\n(.*?\n)?---[ \t]*(?:\r?\n|$)/s;

/** The front matter of a file, and the rest. */
interface TakenFrontMatter {
  frontMatter?: FrontMatter;
  /** What is wrong with the YAML, if that is why there is no front matter. */
  fault?: string;
  markdown: string;
}

/** Takes the front matter off a file. Anything but a mapping of fields stays in the Markdown. */
export function takeFrontMatter(text: string): TakenFrontMatter {
  const [whole = '', yaml = ''] = block.exec(text.slice(0, maxLength)) ?? [];
  if (whole === '') return { markdown: text };
  // without types, the version 1.10 is not the number 1.1
  const document = parseDocument(yaml, { schema: 'failsafe', prettyErrors: false });
  const [error] = document.errors;
  if (error) return { fault: error.message, markdown: text };
  const fields = toFields(document);
  if (!fields) return { markdown: text };
  const get = (name: string, limit: number) => toLine(fields.get(name), limit);
  // unlike the facts, a long title is cut, by the conversion
  const title = get('title', Number.POSITIVE_INFINITY);
  const frontMatter = {
    title,
    version: get('version', maxVersionLength),
    department: get('department', maxDepartmentLength),
  };
  return { frontMatter, markdown: text.slice(whole.length) };
}

/** Returns the fields of a mapping, whose values are strings or collections; undefined for any other YAML. */
function toFields(document: Document): Map<unknown, unknown> | undefined {
  try {
    const value: unknown = document.toJS({ mapAsMap: true });
    return value instanceof Map ? value : undefined;
  } catch {
    // its aliases expand too far
    return undefined;
  }
}

/** Returns a string in one line; null if it is empty or longer than `limit`, or for any other value. */
function toLine(value: unknown, limit: number): string | null {
  // an escape of YAML can be half of a character
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line === '' || [...line].length > limit ? null : line;
}
