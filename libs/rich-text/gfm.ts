/** Converts rich text to a Markdown tree (mdast) with the blocks of GitHub Flavored Markdown. */
import type { BlockContent, Blockquote, Code, Heading, List, ListItem, Paragraph } from 'mdast';
import { getInteger, getString } from './attributes.ts';
import { type CalloutKind, getCallout } from './callout.ts';
import { toPhrasing } from './gfm-inline.ts';
import { toGfmTable } from './gfm-table.ts';
import { findTopLevel, getLevel } from './headings.ts';
import { maxListStart } from './list-start.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';
import { toWellFormed } from './well-formed.ts';

declare module 'mdast' {
  interface BlockquoteData {
    /** The kind of the GitHub alert that the quote is, such as `WARNING`. */
    alert?: string;
  }
}

/**
 * GitHub's alerts by kind of callout. GitHub has no danger: it becomes the most severe alert, the red CAUTION,
 * and starts with its own signal word.
 */
const alerts: Record<CalloutKind, string> = {
  danger: 'CAUTION',
  warning: 'WARNING',
  caution: 'CAUTION',
  note: 'NOTE',
};

/**
 * Converts a tree to blocks for `toMarkdown`. The top heading level becomes `headingLevel`. Callouts become
 * alerts, or quotes inside other blocks. Underline and highlight are dropped, as are alignment and letters
 * as list numbers. Remote images become links.
 */
export function toGfm(
  content: RichText,
  { headingLevel = 5 }: { headingLevel?: number } = {},
): BlockContent[] {
  const root = toWellFormed(content);
  const shift = headingLevel - findTopLevel(root);
  return (root.content ?? []).flatMap((node) =>
    node.type === 'callout' ? alert(node, shift) : block(node, shift),
  );
}

function blocks(parent: RichText, shift: number): BlockContent[] {
  return (parent.content ?? []).flatMap((node) => block(node, shift));
}

function block(node: RichText, shift: number): BlockContent[] {
  switch (node.type) {
    case 'heading':
      return heading(node, shift);
    case 'codeBlock':
      return [code(node)];
    case 'blockquote':
      return quote(blocks(node, shift));
    case 'callout':
      return quote([signalWord(node), ...blocks(node, shift)]);
    case 'horizontalRule':
      return [{ type: 'thematicBreak' }];
    case 'table':
      return [toGfmTable(node)];
    case 'bulletList':
    case 'taskList':
    case 'orderedList':
      return list(node, shift);
    default:
      return paragraph(node);
  }
}

function paragraph(node: RichText): Paragraph[] {
  const children = toPhrasing(node.content ?? []);
  return children.length === 0 ? [] : [{ type: 'paragraph', children }];
}

function heading(node: RichText, shift: number): Heading[] {
  const children = toPhrasing(node.content ?? [], { lineBreak: { type: 'text', value: ' ' } });
  const depth = Math.min(6, Math.max(1, shift + getLevel(node))) as Heading['depth'];
  return children.length === 0 ? [] : [{ type: 'heading', depth, children }];
}

function code(node: RichText): Code {
  const language = getString(node, 'language');
  const value = (node.content ?? []).map(toText).join('').replace(/\r\n?/g, '\n');
  return { type: 'code', lang: /^[A-Za-z0-9+#._-]{1,40}$/.test(language) ? language : null, value };
}

function quote(children: BlockContent[]): Blockquote[] {
  return children.length === 0 ? [] : [{ type: 'blockquote', children }];
}

/** GitHub recognizes alerts only outside of other blocks. */
function alert(node: RichText, shift: number): Blockquote[] {
  const { kind, signalWord: word } = getCallout(node);
  const label = alerts[kind] === word ? [] : [signalWord(node)];
  return [
    { type: 'blockquote', data: { alert: alerts[kind] }, children: [...label, ...blocks(node, shift)] },
  ];
}

function signalWord(node: RichText): Paragraph {
  const value = getCallout(node).signalWord;
  return {
    type: 'paragraph',
    children: [{ type: 'strong', children: [{ type: 'text', value }] }],
  };
}

function list(node: RichText, shift: number): List[] {
  const ordered = node.type === 'orderedList';
  const children = (node.content ?? []).flatMap((item) => listItem(item, ordered, shift));
  if (children.length === 0) return [];
  const spread = children.some((item) => item.spread);
  const start = ordered ? (getInteger(node, 'start', 0, maxListStart) ?? 1) : null;
  return [{ type: 'list', ordered, start, spread, children }];
}

/**
 * Converts a list item; an empty one is omitted, unless it has a number or a checkbox. It is tight if it is one
 * paragraph and lists, because other blocks need blank lines.
 */
function listItem(item: RichText, hasNumber: boolean, shift: number): ListItem[] {
  const children = blocks(item, shift);
  const isTask = item.type === 'taskItem';
  const isIncomplete = isTask ? children[0]?.type !== 'paragraph' : hasNumber && children.length === 0;
  // an encoded space: parsers need a character after a checkbox, and may read a number alone as text
  if (isIncomplete) children.unshift({ type: 'paragraph', children: [{ type: 'text', value: ' ' }] });
  if (children.length === 0) return [];
  const spread = children.slice(1).some((child) => child.type !== 'list' || startsWithList(child));
  return [{ type: 'listItem', spread, checked: isTask ? item.attrs?.checked === true : null, children }];
}

/** Whether the first item starts with a list; after a paragraph, some parsers read the `3.` of `- 3. a` as text. */
function startsWithList(list: List): boolean {
  return list.children[0]?.children[0]?.type === 'list';
}
