/** Turns any string into XML 1.0 text: removes characters that XML does not allow and escapes the rest. */

/** Removes C0 controls, U+FFFE and U+FFFF, and replaces lone surrogates (XML 1.0, production 2, Char). */
function cleanXml(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.replace(NOT_XML, '');
}

/** Escapes text for an element or a double-quoted attribute. */
export function escapeXml(text: string): string {
  return cleanXml(text).replace(SPECIAL, (character) => ENTITIES[character] ?? '');
}

/** Escapes text and replaces line breaks and tabs by spaces. */
export function escapeLine(text: string): string {
  return escapeXml(text.replace(/[\t\n\r\u2028\u2029]+/g, ' '));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
const NOT_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;
const SPECIAL = /[&<>"\t\n\r]/g;
const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};
