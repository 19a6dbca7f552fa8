/** Rejects Markdown that takes the parser much time: its time grows with the square of the nesting. */
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { rejectImport } from './import-fault.ts';

/** The deepest nesting of quotes and lists. */
const maxDepth = 64;
/** The most marks in one paragraph, heading or cell of a table. */
const maxMarks = 10_000;
/** The most marks between two empty lines, such as those of a whole table. */
const maxMarksInLines = 50_000;

const containers = /^(?:[ \t]*(?:>|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))*/;
const marks = /[[\]*_~`<&!]/g;

/** The constructs inside of a paragraph, which are not read to find the paragraphs. */
const inlineConstructs = [
  ...['attention', 'autolink', 'characterEscape', 'characterReference', 'codeText', 'hardBreakEscape'],
  ...['htmlText', 'labelEnd', 'labelStartImage', 'labelStartLink'],
];

/** Checks all lines, and single paragraphs if lines with many marks follow each other. Errors: `ImportRejected`. */
export function checkMarkdown(text: string): void {
  let [marksInLines, mostMarks] = [0, 0];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const nesting = containers.exec(line)?.[0].replace(/[ \t]+/g, '') ?? '';
    const indent = /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0;
    if (nesting.length > maxDepth || (nesting !== '' && indent > 4 * maxDepth))
      rejectImport('malformed', 'The Markdown is nested too deep. Simplify its quotes and lists.');
    marksInLines = line.trim() === '' ? 0 : marksInLines + countMarks(line);
    mostMarks = Math.max(mostMarks, marksInLines);
    if (mostMarks > maxMarksInLines) rejectMarks();
  }
  if (mostMarks > maxMarks) checkParagraphs(text);
}

/** Code has no marks, and each cell of a table is parsed by itself. */
function checkParagraphs(text: string): void {
  const { document, flow } = gfm();
  const blocks = {
    ...(document && { document }),
    ...(flow && { flow }),
    disable: { null: inlineConstructs },
  };
  const stack: Nodes[] = [fromMarkdown(text, { extensions: [blocks], mdastExtensions: [gfmFromMarkdown()] })];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (node.type !== 'paragraph' && node.type !== 'heading' && node.type !== 'tableCell') {
      if ('children' in node) for (const child of node.children) stack.push(child);
      continue;
    }
    const { start, end } = node.position ?? {};
    if (countMarks(text.slice(start?.offset, end?.offset)) > maxMarks) rejectMarks();
  }
}

function rejectMarks(): never {
  return rejectImport('malformed', 'A paragraph has too many marks. Separate its paragraphs by empty lines.');
}

function countMarks(text: string): number {
  return text.match(marks)?.length ?? 0;
}
