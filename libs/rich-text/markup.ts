/** Writes HTML so that nothing can leave its place: names come from our code only, text and attributes are always escaped. */
import { removeInvalidCharacters } from './text.ts';

declare const made: unique symbol;

/** HTML that was made here: no other string may stand where HTML is asked for. */
export type Html = string & { readonly [made]: true };

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
export function escapeHtml(text: string): Html {
  return trusted(
    removeInvalidCharacters(text).replace(/[&<>"']/g, (character) => escapes.get(character) ?? ''),
  );
}

/** An element around HTML that was made here; without `inner` it is a void one, in the form that XML parsers read too. */
export function element(name: string, attributes: Attributes, inner?: Html): Html {
  const opening = `<${name}${writeAttributes(attributes)}`;
  return trusted(inner === undefined ? `${opening}/>` : `${opening}>${inner}</${name}>`);
}

/** A template of our own; what is put into it must be HTML that was made here. */
export function html(texts: TemplateStringsArray, ...inner: readonly Html[]): Html {
  return trusted(String.raw({ raw: texts }, ...inner));
}

/** Pieces one after the other. */
export function joinHtml(pieces: readonly Html[], between: '' | ' ' | '\n' = ''): Html {
  return trusted(pieces.join(between));
}

/** A style sheet of our own; throws when it could end its element. */
export function style(css: string): Html {
  if (css.includes('<')) throw new Error('A style sheet may not hold <');
  return trusted(`<style>${css}</style>`);
}

function writeAttributes(attributes: Attributes): string {
  let written = '';
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) written += ` ${name}="${escapeHtml(String(value))}"`;
  }
  return written;
}

/** The only way from a string to HTML: every caller above has escaped what is not its own. */
function trusted(html: string): Html {
  return html as Html;
}
