/** Writes Markdown in which words stay words, for readers of CommonMark and of GitHub's dialect. */
import type { RootContent } from 'mdast';
import { defaultHandlers, type Handle, type Unsafe, toMarkdown as write } from 'mdast-util-to-markdown';

/** What GitHub's dialect reads beyond CommonMark: struck words, and the second line of a table; and what the library lets pass. */
const unsafe: Unsafe[] = [
  // an address of mail in angle brackets may begin with a digit or a sign (CommonMark 6.5)
  { character: '<', after: "[\\w.!#$%&'*+/=?^`{|}~-]+@", inConstruct: 'phrasing' },
  { character: '~', inConstruct: 'phrasing' },
  { atBreak: true, character: '-', after: '[:|]' },
  { atBreak: true, character: ':', after: '-' },
  { atBreak: true, character: '|' },
];

const addresses = /(?:(?:https?|ftp):\/\/|www\.)\S*/gi;
const addressStart = /(?:https?|ftp)(?=:\/\/)|www(?=\.)/gi;
/** An escaped character, so that it stays one, or a run of underscores. */
const runs = /\\.|_+/gs;
/** An escaped ampersand that begins no character reference, and before it any other escape, so that none is cut in two. */
const looseAmpersand = /\\[^&]|\\&(?!#?[A-Za-z0-9]+;)/g;

/** The blocks as Markdown without a line end at the end; text is escaped wherever it could be read as markup, tasks get `[x]` or `[ ]`. */
export function toMarkdown(blocks: RootContent[]): string {
  const written = write(
    { type: 'root', children: blocks },
    { bullet: '-', listItemIndent: 'one', unsafe, handlers: { break: hardBreak, paragraph, text } },
  );
  return written.replace(/\n$/, '');
}

/** Two spaces at the line's end: unlike a backslash every dialect reads them, and nobody takes them for a part of the text. */
const hardBreak: Handle = (node, parent, state, info) => {
  const written = defaultHandlers.break(node, parent, state, info);
  return written === '\\\n' ? '  \n' : written;
};

const paragraph: Handle = (node, parent, state, info) => {
  const words = defaultHandlers.paragraph(node, parent, state, info);
  if (parent?.type !== 'listItem' || parent.children[0] !== node || typeof parent.checked !== 'boolean')
    return words;
  const box = parent.checked ? '[x]' : '[ ]';
  return words === '' ? box : `${box} ${words}`;
};

const text: Handle = (node, parent, state, info) => {
  const written = defaultHandlers.text(node, parent, state, info).replace(runs, escapedBesideSymbol);
  return written.replace(addresses, keptFromLinking);
};

/** Underscores beside an emoji or another character of two code units, which the library takes for a letter and parsers may not. */
function escapedBesideSymbol(run: string, at: number, all: string): string {
  const isSymbol = /[\uD800-\uDFFF]/.test(`${all.charAt(at - 1)} ${all.charAt(at + run.length)}`);
  return run.startsWith('_') && isSymbol ? run.replaceAll('_', '\\_') : run;
}

/** GitHub's dialect takes a bare address up to the next space, escapes and all; one that needs escapes is kept from being a link. */
function keptFromLinking(words: string): string {
  const plain = words.replace(looseAmpersand, (pair) => (pair === '\\&' ? '&' : pair));
  return plain.includes('\\') ? plain.replace(addressStart, '$&\\') : plain;
}
