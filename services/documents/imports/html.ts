/** Reads HTML as a tree, within limits that keep a hostile file from taking much time or memory. */
import type { Root } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { readTags } from './html-tags.ts';
import { rejectImport } from './import-fault.ts';

/** The deepest nesting of elements that a browser would also show. */
const maxDepth = 256;
/** Each block repeats the formatting that is still open, so this many elements are the result of a small file. */
const maxRepeated = 300_000;

const formatting = /^(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)$/;
/** Elements without content, or whose end is often left out. */
const unclosed =
  /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|colgroup|rt|rp|body|html|head)$/;

/** Parses HTML. A file without `<html>` is a document too. Errors: `ImportRejected`. */
export function parseHtml(text: string): Root {
  checkNesting(text);
  return fromHtml(text);
}

/** Parses a piece of HTML, such as that in Markdown. Errors: `ImportRejected`. */
export function parseHtmlFragment(text: string): Root {
  checkNesting(text);
  return fromHtml(text, { fragment: true });
}

/** Rejects HTML whose tree would be far larger than the file, before it is parsed. */
function checkNesting(text: string): void {
  let [depth, open, repeated] = [0, 0, 0];
  for (const { name, isEnd, isClosed } of readTags(text)) {
    const step = isEnd ? -1 : isClosed ? 0 : 1;
    if (formatting.test(name)) open = Math.max(0, open + step);
    else if (!isEnd) repeated += open;
    if (!unclosed.test(name)) depth = Math.max(0, depth + step);
    if (depth + open > maxDepth || repeated > maxRepeated)
      rejectImport('malformed', 'The HTML is nested too deep. Close its elements, or simplify it.');
  }
}
