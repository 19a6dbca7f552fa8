/** Reads Markdown back as GitHub's dialect does, and says what is in it and in a tree in one short form; for tests only. */
import type { BlockContent, Nodes, PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A paragraph as its words, with a line feed for each break; a list as the forms of its items. */
export type Outline = string | { items: Outline[][] };

/** What readers of GitHub's dialect find; whatever is neither paragraph, bullet list nor text is named in angle brackets. */
export function outlineMarkdown(markdown: string): Outline[] {
  const read = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return read.children.map(outlineBlock);
}

/** What was meant to be written. */
export function outlineBlocks(blocks: readonly BlockContent[]): Outline[] {
  return blocks.map(outlineBlock);
}

function outlineBlock(block: Nodes): Outline {
  if (block.type === 'paragraph') return block.children.map(getWords).join('');
  if (block.type !== 'list' || block.ordered) return `<${block.type}>`;
  return {
    items: block.children.map(({ checked, children }) => addBox(checked, children.map(outlineBlock))),
  };
}

/** A box stands before the first words; GitHub shows one without words as text, which is the same to the eye. */
function addBox(checked: boolean | null | undefined, forms: Outline[]): Outline[] {
  if (typeof checked !== 'boolean') return forms;
  const [first, ...rest] = forms;
  return [`${checked ? '[x]' : '[ ]'} ${typeof first === 'string' ? first : ''}`.trimEnd(), ...rest];
}

/** The words; an address that GitHub makes a link of by itself is its words. */
function getWords(node: PhrasingContent): string {
  if (node.type === 'text') return node.value;
  if (node.type === 'break') return '\n';
  if (node.type !== 'link') return `<${node.type}>`;
  const words = node.children.map(getWords).join('');
  const isBare = [words, `http://${words}`, `mailto:${words}`].includes(node.url);
  return isBare ? words : `<link ${node.url}>`;
}
