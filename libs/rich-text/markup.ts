/** Writes safe HTML: tag names come from code only, text and attributes are always escaped. */
import { removeInvalidCharacters } from './text.ts';

declare const brand: unique symbol;

/** HTML that this module wrote; the type checker rejects any other string in its place. */
export type Html = string & { readonly [brand]: true };

/** Attribute values by name; undefined omits the attribute. */
export type Attributes = Record<string, string | number | undefined>;

const escapes = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Escapes text, so that HTML displays it unchanged. */
export function escapeHtml(text: string): Html {
  return trustHtml(
    removeInvalidCharacters(text).replace(/[&<>"']/g, (character) => escapes.get(character) ?? ''),
  );
}

/** Writes an element; without `inner` a void element as `<name/>`, which XML parsers accept too. */
export function element(name: string, attributes: Attributes, inner?: Html): Html {
  const opening = `<${name}${writeAttributes(attributes)}`;
  return trustHtml(inner === undefined ? `${opening}/>` : `${opening}>${inner}</${name}>`);
}

/** A template tag; its values must be `Html`. */
export function html(texts: TemplateStringsArray, ...inner: readonly Html[]): Html {
  return trustHtml(String.raw({ raw: texts }, ...inner));
}

/** Joins pieces of HTML. */
export function joinHtml(pieces: readonly Html[], separator: '' | ' ' | '\n' = ''): Html {
  return trustHtml(pieces.join(separator));
}

/** Writes a `<style>` element; throws if the style sheet contains `<`, which could end the element. */
export function style(css: string): Html {
  if (css.includes('<')) throw new Error('A style sheet must not contain <');
  return trustHtml(`<style>${css}</style>`);
}

function writeAttributes(attributes: Attributes): string {
  let result = '';
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) result += ` ${name}="${escapeHtml(String(value))}"`;
  }
  return result;
}

/** Marks a string as HTML. Only the functions above call it, and they escape all text from their callers. */
function trustHtml(html: string): Html {
  return html as Html;
}
