/** Any string as XML 1.0 text: characters that XML cannot carry are left out, the rest is escaped. */

/** Removes what XML 1.0 (production 2, Char) does not allow: C0 controls, U+FFFE, U+FFFF, lone surrogates. */
export function cleanXml(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.replace(NOT_XML, '');
}

/** Text for the inside of an element or a double-quoted attribute. */
export function escapeXml(text: string): string {
  return cleanXml(text).replace(SPECIAL, (character) => ENTITIES[character] ?? '');
}

/** Text on one line: line breaks and tabs become spaces. */
export function escapeLine(text: string): string {
  return escapeXml(text.replace(/[\t\n\r\u2028\u2029]+/g, ' '));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go
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
