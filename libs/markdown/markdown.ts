/** Writes Markdown and escapes text so that CommonMark and GitHub parsers never read it as markup. */
import type { Blockquote, Heading, RootContent, Table } from 'mdast';
import { gfmStrikethroughToMarkdown } from 'mdast-util-gfm-strikethrough';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { defaultHandlers, type Handle, type Unsafe, toMarkdown as write } from 'mdast-util-to-markdown';

declare module 'mdast' {
  interface HeadingData {
    /** Whether the heading ends in one `#`, which readers do not see. */
    isClosed?: boolean;
  }
}

/** Escapes that the library lacks: strikethrough, GitHub's tables, and mail autolinks. */
const unsafe: Unsafe[] = [
  // a mail address in angle brackets may start with a digit or a symbol (CommonMark 6.5)
  { character: '<', after: "[\\w.!#$%&'*+/=?^`{|}~-]+@", inConstruct: 'phrasing' },
  { character: '~', inConstruct: 'phrasing' },
  { atBreak: true, character: '-', after: '[:|]' },
  { atBreak: true, character: ':', after: '-' },
  { atBreak: true, character: '|' },
  { character: '|', inConstruct: 'tableCell' },
];

/** Cells are not aligned: one long cell would make all others as long. */
const tables = gfmTableToMarkdown({ tableCellPadding: true, tablePipeAlign: false });

const addresses = /(?:(?:https?|ftp):\/\/|www\.)\S*/gi;
/** Starts only where a run of these characters does: every other start would scan the rest of the run again. */
const mails = /(?<![\w.+-])[\w.+-]+@[\w.-]+/g;
const addressStart = /(?:https?|ftp)(?=:\/\/)|www(?=\.)/gi;
/** An escaped character, which must stay intact, or a run of underscores. */
const runs = /\\.|_+/gs;
/**
 * An escaped ampersand that does not start a character reference; also matches other escapes, to keep them
 * intact.
 */
const looseAmpersand = /\\[^&]|\\&(?!#?[A-Za-z0-9]+;)/g;

/**
 * Writes blocks as Markdown without a trailing line feed; task items start with `[x]` or `[ ]`. Tags of HTML are
 * written as they are, so they must come from code. Links have the form `[text](url)`: as `<url>`, the library
 * would write a link to `mailto:b` with the text `b` as the tag `<b>`.
 */
export function toMarkdown(blocks: RootContent[]): string {
  const written = write(
    { type: 'root', children: blocks },
    {
      bullet: '-',
      // a rule of another character can never form a longer rule with the bullet before it
      rule: '_',
      listItemIndent: 'one',
      resourceLink: true,
      unsafe,
      join: tables.join ?? [],
      handlers: {
        ...tables.handlers,
        ...gfmStrikethroughToMarkdown().handlers,
        blockquote,
        break: hardBreak,
        heading,
        paragraph,
        table,
        text,
      },
    },
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

const heading: Handle = (node: Heading, parent, state, info) => {
  const written = defaultHandlers.heading(node, parent, state, info);
  return node.data?.isClosed ? `${written} #` : written;
};

const paragraph: Handle = (node, parent, state, info) => {
  const content = defaultHandlers.paragraph(node, parent, state, info);
  if (parent?.type !== 'listItem' || parent.children[0] !== node || typeof parent.checked !== 'boolean')
    return content;
  const box = parent.checked ? '[x]' : '[ ]';
  return content === '' ? box : `${box} ${content}`;
};

/** Writes an alert's kind in its own line; its first paragraph follows directly, as in GitHub's guide. */
const blockquote: Handle = (node: Blockquote, parent, state, info) => {
  const written = defaultHandlers.blockquote(node, parent, state, info);
  if (node.data?.alert === undefined) return written;
  const space = node.children[0]?.type === 'paragraph' ? '' : '>\n';
  return `> [!${node.data.alert}]\n${space}${written}`;
};

/** Writes three hyphens for each column, because some parsers do not accept one. */
const table: Handle = (node: Table, parent, state, info) => {
  const written: string = tables.handlers?.table?.(node, parent, state, info) ?? '';
  const [head, delimiters = '', ...rows] = written.split('\n');
  return [head, delimiters.replaceAll('-', '---'), ...rows].join('\n');
};

const text: Handle = (node, parent, state, info) => {
  const written = defaultHandlers.text(node, parent, state, info).replace(runs, escapeUnderscores);
  // the text of a link contains no other links
  if (state.stack.includes('label')) return written;
  // next to markup, GitHub would read the marker as part of the address
  const isAfterMarkup = !/(?:^|\s)$/.test(info.before);
  const isBeforeMarkup = !/^(?:\s|$)/.test(info.after);
  const isLast = (found: string, at: number, all: string) => at + found.length === all.length;
  return written
    .replace(mails, (mail, at, all) => {
      const touches = (isAfterMarkup && at === 0) || (isBeforeMarkup && isLast(mail, at, all));
      return touches ? mail.replace('@', '\\@') : mail;
    })
    .replace(addresses, (address, at, all) =>
      preventAutolink(address, isBeforeMarkup && isLast(address, at, all)),
    );
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
 * GitHub links a bare address up to the next space, including escapes; an address with escapes, or one before
 * markup (`isOpen`), must not become a link.
 */
function preventAutolink(address: string, isOpen: boolean): string {
  const plain = address.replace(looseAmpersand, (pair) => (pair === '\\&' ? '&' : pair));
  return isOpen || plain.includes('\\') ? plain.replace(addressStart, '$&\\') : plain;
}
