/** A document's title as a file name that every system accepts. */

const MAX_BYTES = 180;
/** Names that Windows keeps for devices, with or without an extension (Naming Files, Paths, and Namespaces). */
const DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)/i;
// Bidirectional marks and other characters that are not seen, so that no name can pretend to be another.
const INVISIBLE = /[\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFFE\uFFFF]/gu;

/** The name with its extension, at most 180 bytes of UTF-8; `document` when nothing of the title is left. */
export function toFileName(title: string, extension: 'docx' | 'md'): string {
  const most = MAX_BYTES - extension.length - 1;
  const clean = title
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\t\n\r]+/g, ' ')
    .replace(INVISIBLE, '')
    .replace(/[/\\:*?"<>|]/g, '-');
  const name = trimDots(truncate(trimDots(clean), most - 1)).replace(DEVICES, '$1_');
  return `${name || 'document'}.${extension}`;
}

/** Windows drops dots and spaces at the end; a dot at the start hides a file elsewhere. */
function trimDots(name: string): string {
  return name.replace(/^[\s.]+|[\s.]+$/gu, '');
}

/** As many whole characters, as a reader sees them, as fit into `most` bytes. */
function truncate(name: string, most: number): string {
  if (Buffer.byteLength(name) <= most) return name;
  let kept = '';
  let size = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(name)) {
    size += Buffer.byteLength(segment);
    if (size > most) break;
    kept += segment;
  }
  return kept;
}
