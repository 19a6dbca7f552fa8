/** Reads Markdown back as GitHub's dialect does, and says what is in it and in a tree in one short form; for tests only. */
import type { BlockContent, Nodes, PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A paragraph as its words, with a line feed for each break; a list as the forms of its items. */
export type Form = string | { items: Form[][] };

/** What readers of GitHub's dialect find; whatever is neither paragraph, bullet list nor text is named in angle brackets. */
export function readBack(markdown: string): Form[] {
  const read = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return read.children.map(formOf);
}

/** What was meant to be written. */
export function meant(blocks: readonly BlockContent[]): Form[] {
  return blocks.map(formOf);
}

function formOf(block: Nodes): Form {
  if (block.type === 'paragraph') return block.children.map(wordsOf).join('');
  if (block.type !== 'list' || block.ordered) return `<${block.type}>`;
  return { items: block.children.map(({ checked, children }) => boxed(checked, children.map(formOf))) };
}

/** A box stands before the first words; GitHub shows one without words as text, which is the same to the eye. */
function boxed(checked: boolean | null | undefined, forms: Form[]): Form[] {
  if (typeof checked !== 'boolean') return forms;
  const [first, ...rest] = forms;
  return [`${checked ? '[x]' : '[ ]'} ${typeof first === 'string' ? first : ''}`.trimEnd(), ...rest];
}

/** The words; an address that GitHub makes a link of by itself is its words. */
function wordsOf(node: PhrasingContent): string {
  if (node.type === 'text') return node.value;
  if (node.type === 'break') return '\n';
  if (node.type !== 'link') return `<${node.type}>`;
  const words = node.children.map(wordsOf).join('');
  const isBare = [words, `http://${words}`, `mailto:${words}`].includes(node.url);
  return isBare ? words : `<link ${node.url}>`;
}
