/** Rejects Markdown that takes the parser much time: its time grows with the square of the nesting. */
import { rejectImport } from './import-fault.ts';

/** The deepest nesting of quotes and lists. */
const maxDepth = 64;
/** The most marks of one kind in one paragraph. */
const maxMarks = 10_000;

const containers = /^(?:[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))*/;
const marks = /[[\]*_~`<&!]/g;

/** Checks all lines. Errors: `ImportRejected`. */
export function checkMarkdown(text: string): void {
  let marksInParagraph = 0;
  for (const line of text.split(/\r\n|\n|\r/)) {
    const nesting = containers.exec(line)?.[0].replace(/[ \t]+/g, '') ?? '';
    const indent = /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;
    if (nesting.length > maxDepth || (nesting !== '' && indent > 4 * maxDepth))
      rejectImport('malformed', 'The Markdown is nested too deep. Simplify its quotes and lists.');
    marksInParagraph = line.trim() === '' ? 0 : marksInParagraph + (line.match(marks)?.length ?? 0);
    if (marksInParagraph > maxMarks)
      rejectImport('malformed', 'A paragraph has too many marks. Separate its paragraphs by empty lines.');
  }
}
