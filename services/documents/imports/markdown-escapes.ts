/** Keeps escaped characters of Markdown from making links of addresses, or alerts of quotes. */
import type { Blockquote, Link, Literal, Nodes, Parents, Root } from 'mdast';
import type { CompileContext, Extension, Token } from 'mdast-util-from-markdown';

/** A character that is written as `\:` or `&#58;`. It is no part of the texts beside it. */
interface Escape extends Literal {
  type: 'escape';
}

declare module 'mdast' {
  interface PhrasingContentMap {
    escape: Escape;
  }
  interface RootContentMap {
    escape: Escape;
  }
  interface BlockquoteData {
    /** `dataAlert` is false if the quote only looks like an alert. */
    hProperties?: { dataAlert: false };
  }
}

/**
 * Comes before the extensions that find addresses in texts. An escape that would make an address stays a node of its
 * own, so they find none there. All others become text, as in `a\_b@example.com`.
 */
export const readEscapes: Extension = {
  enter: { characterEscape: enterEscape, characterReference: enterEscape },
  transforms: [joinHarmlessEscapes],
};

/** Comes after them, and makes text of the escapes that are left. */
export const joinEscapes: Extension = { transforms: [joinAllEscapes] };

function enterEscape(this: CompileContext, { start, end }: Token): void {
  const node: Escape = { type: 'escape', value: '', position: { start, end } };
  const parent = this.stack.at(-1);
  if (parent && 'children' in parent) (parent.children as Nodes[]).push(node);
  this.stack.push(node);
}

/** Makes text of the escapes that make no address, and marks the quotes that only look like an alert. */
function joinHarmlessEscapes(parent: Root | Parents): void {
  const children: Nodes[] = [];
  for (const [at, child] of parent.children.entries()) {
    if (child.type === 'blockquote' && isEscapedAlert(child))
      child.data = { hProperties: { dataAlert: false } };
    if ('children' in child) joinHarmlessEscapes(child);
    if (child.type === 'text' || (child.type === 'escape' && !makesAddress(child, parent.children[at - 1])))
      addText(children, child.value);
    else children.push(child);
  }
  parent.children = children as Parents['children'];
}

/** What precedes a character that makes an address together with it: `www\.`, `http:\/`. */
const addressStarts = new Map([
  ['.', /www$/i],
  ['/', /:$/],
]);

function makesAddress({ value }: Escape, before: Nodes | undefined): boolean {
  if (/^[:@<]$/.test(value)) return true;
  return before?.type === 'text' && addressStarts.get(value)?.test(before.value) === true;
}

/** A bare address in the word after an escaped `<` is text, too, such as that in `\<mailto:a@example.com>`. */
function joinAllEscapes(parent: Root | Parents): void {
  const children: Nodes[] = [];
  let isInWord = false;
  for (const child of parent.children) {
    if ('children' in child) joinAllEscapes(child);
    const text = readText(child, isInWord);
    if (text === undefined) children.push(child);
    else addText(children, text);
    const isStart = child.type === 'escape' && child.value === '<';
    isInWord = text !== undefined && (isStart || isInWord) && !/\s/.test(text);
  }
  parent.children = children as Parents['children'];
}

/** Appends text to the last node if it is a text, otherwise as a new text. */
function addText(nodes: Nodes[], value: string): void {
  const last = nodes.at(-1);
  if (last?.type === 'text') last.value += value;
  else nodes.push({ type: 'text', value });
}

/** The text of a node; undefined if it stays a node. */
function readText(node: Nodes, isInWord: boolean): string | undefined {
  if (node.type === 'text' || node.type === 'escape') return node.value;
  return isInWord && node.type === 'link' ? readBareAddress(node) : undefined;
}

/** The address of a link that is written without `<>` and `[]()`. */
function readBareAddress({ children: [text], position }: Link): string | undefined {
  if (text?.type !== 'text') return undefined;
  const length = position && (position.end.offset ?? 0) - (position.start.offset ?? 0);
  return length === undefined || length === text.value.length ? text.value : undefined;
}

/** Whether a quote begins with the mark of an alert in which a character is escaped. */
function isEscapedAlert({ children: [first] }: Blockquote): boolean {
  if (first?.type !== 'paragraph') return false;
  let text = '';
  let hasEscape = false;
  for (const child of first.children) {
    if (text.includes(']') || (child.type !== 'text' && child.type !== 'escape')) break;
    hasEscape ||= child.type === 'escape';
    text += child.value;
  }
  return hasEscape && /^\[![A-Za-z]+\]/.test(text);
}
