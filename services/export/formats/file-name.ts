/** Turns a document's title into a file name that every operating system accepts. */

const MAX_BYTES = 180;
const MAX_VERSION_BYTES = 60;
/** Device names that Windows reserves, with or without an extension (Naming Files, Paths, and Namespaces). */
const DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;
/** Bidirectional marks and other invisible characters, with which one name could look like another. */
const INVISIBLE = /[\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFFE\uFFFF]/gu;

/**
 * Returns a name of at most 180 bytes of UTF-8 with its extension; an unusable title becomes `document`. A version
 * follows the title after a space; a long title is truncated before it.
 */
export function toFileName(title: string, extension: 'docx' | 'md' | 'html' | 'zip', version = ''): string {
  const label = truncate(trimDots(clean(version)), MAX_VERSION_BYTES);
  const suffix = trimDots(label) === '' ? '' : ` ${trimDots(label)}`;
  const maxBytes = MAX_BYTES - extension.length - 1 - Buffer.byteLength(suffix);
  const name = trimDots(truncate(trimDots(clean(title)), maxBytes - 1)) || 'document';
  return `${`${name}${suffix}`.replace(DEVICES, '$1_')}.${extension}`;
}

/** Replaces or removes the characters that a file name must not contain. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\t\n\r]+/g, ' ')
    .replace(INVISIBLE, '')
    .replace(/[/\\:*?"<>|]/g, '-');
}

/** Windows removes trailing dots and spaces; on other systems a leading dot hides the file. */
function trimDots(name: string): string {
  return name.replace(/^[\s.]+|[\s.]+$/gu, '');
}

/** Truncates to `maxBytes` bytes without splitting a grapheme cluster. */
function truncate(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  let result = '';
  let size = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(name)) {
    size += Buffer.byteLength(segment);
    if (size > maxBytes) break;
    result += segment;
  }
  return result;
}
