/** Writes HTML so that nothing can leave its place: names come from our code only, text and attributes are always escaped. */
import { clean } from './text.ts';

/** Attributes by name; undefined leaves one out, a number is written as such. */
export type Attributes = Record<string, string | number | undefined>;

const escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** The text as HTML that shows exactly it. */
export function escaped(text: string): string {
  return clean(text).replace(/[&<>"']/g, (character) => escapes.get(character) ?? '');
}

/** An element around HTML that was made here; without `inner` it is a void one, in the form that XML parsers read too. */
export function element(name: string, attributes: Attributes, inner?: string): string {
  const opening = `<${name}${attributesOf(attributes)}`;
  return inner === undefined ? `${opening}/>` : `${opening}>${inner}</${name}>`;
}

function attributesOf(attributes: Attributes): string {
  let written = '';
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) written += ` ${name}="${escaped(String(value))}"`;
  }
  return written;
}
