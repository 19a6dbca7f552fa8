/** Recognizes the headings in the text of a node, which our Markdown export closes with one `#`: `#### Tools #`. */
import type { Heading } from 'mdast';
import type { CompileContext, Extension, Token } from 'mdast-util-from-markdown';

declare module 'mdast' {
  interface HeadingData {
    hProperties?: { dataInText: true };
  }
}

/** Marks these headings with `dataInText`. People close headings with as many `#` as they open them with. */
export const headingsInText: Extension = { exit: { atxHeadingSequence: exitSequence } };

function exitSequence(this: CompileContext, token: Token): void {
  const heading = this.stack.at(-1);
  if (heading?.type !== 'heading') return;
  const length = this.sliceSerialize(token).length as Heading['depth'];
  if (!heading.depth) heading.depth = length;
  else if (length === 1 && heading.depth > 2) heading.data = { hProperties: { dataInText: true } };
}
