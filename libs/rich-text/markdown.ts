/** Writes Markdown and escapes text so that CommonMark and GitHub parsers never read it as markup. */
import type { RootContent } from 'mdast';
import { defaultHandlers, type Handle, type Unsafe, toMarkdown as write } from 'mdast-util-to-markdown';

/** Escapes that the library lacks: strikethrough, the delimiter row of a GitHub table, and mail autolinks. */
const unsafe: Unsafe[] = [
  // a mail address in angle brackets may start with a digit or a symbol (CommonMark 6.5)
  { character: '<', after: "[\\w.!#$%&'*+/=?^`{|}~-]+@", inConstruct: 'phrasing' },
  { character: '~', inConstruct: 'phrasing' },
  { atBreak: true, character: '-', after: '[:|]' },
  { atBreak: true, character: ':', after: '-' },
  { atBreak: true, character: '|' },
];

const addresses = /(?:(?:https?|ftp):\/\/|www\.)\S*/gi;
const addressStart = /(?:https?|ftp)(?=:\/\/)|www(?=\.)/gi;
/** An escaped character, which must stay intact, or a run of underscores. */
const runs = /\\.|_+/gs;
/**
 * An escaped ampersand that does not start a character reference; also matches other escapes, to keep them
 * intact.
 */
const looseAmpersand = /\\[^&]|\\&(?!#?[A-Za-z0-9]+;)/g;

/** Writes blocks as Markdown without a trailing line feed; task items start with `[x]` or `[ ]`. */
export function toMarkdown(blocks: RootContent[]): string {
  const written = write(
    { type: 'root', children: blocks },
    { bullet: '-', listItemIndent: 'one', unsafe, handlers: { break: hardBreak, paragraph, text } },
  );
  return written.replace(/\n$/, '');
}

/**
 * Writes a hard break as two spaces: every dialect supports them, and readers do not see them, unlike a
 * backslash.
 */
const hardBreak: Handle = (node, parent, state, info) => {
  const written = defaultHandlers.break(node, parent, state, info);
  return written === '\\\n' ? '  \n' : written;
};

const paragraph: Handle = (node, parent, state, info) => {
  const content = defaultHandlers.paragraph(node, parent, state, info);
  if (parent?.type !== 'listItem' || parent.children[0] !== node || typeof parent.checked !== 'boolean')
    return content;
  const box = parent.checked ? '[x]' : '[ ]';
  return content === '' ? box : `${box} ${content}`;
};

const text: Handle = (node, parent, state, info) => {
  const written = defaultHandlers.text(node, parent, state, info).replace(runs, escapeUnderscores);
  return written.replace(addresses, preventAutolink);
};

/**
 * Escapes underscores beside a character of two code units, e.g. an emoji: the library treats it as a letter,
 * parsers may not.
 */
function escapeUnderscores(run: string, at: number, all: string): string {
  const isSymbol = /[\uD800-\uDFFF]/.test(`${all.charAt(at - 1)} ${all.charAt(at + run.length)}`);
  return run.startsWith('_') && isSymbol ? run.replaceAll('_', '\\_') : run;
}

/**
 * GitHub links a bare address up to the next space, including escapes; an address with escapes must not
 * become a link.
 */
function preventAutolink(address: string): string {
  const plain = address.replace(looseAmpersand, (pair) => (pair === '\\&' ? '&' : pair));
  return plain.includes('\\') ? plain.replace(addressStart, '$&\\') : plain;
}
