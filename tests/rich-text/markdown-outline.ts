/** Outlines Markdown, parsed as GitHub does, and trees, so that tests can compare them. */
import type { BlockContent, Nodes, PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** The outline of a block: a paragraph as text (a break is a line feed), a list as outlines of its items. */
export type Outline = string | { items: Outline[][] };

/** The outline of parsed Markdown; other nodes than paragraph, bullet list and text appear as `<type>`. */
export function outlineMarkdown(markdown: string): Outline[] {
  const read = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return read.children.map(outlineBlock);
}

/** The outline of a tree before it is written as Markdown. */
export function outlineBlocks(blocks: readonly BlockContent[]): Outline[] {
  return blocks.map(outlineBlock);
}

function outlineBlock(block: Nodes): Outline {
  if (block.type === 'paragraph') return block.children.map(getText).join('');
  if (block.type !== 'list' || block.ordered) return `<${block.type}>`;
  return {
    items: block.children.map(({ checked, children }) => addBox(checked, children.map(outlineBlock))),
  };
}

/** Puts the checkbox before the first text; GitHub parses one without text as text, which looks the same. */
function addBox(checked: boolean | null | undefined, outlines: Outline[]): Outline[] {
  if (typeof checked !== 'boolean') return outlines;
  const [first, ...rest] = outlines;
  return [`${checked ? '[x]' : '[ ]'} ${typeof first === 'string' ? first : ''}`.trimEnd(), ...rest];
}

/** The text; a link that GitHub creates from a bare address counts as text. */
function getText(node: PhrasingContent): string {
  if (node.type === 'text') return node.value;
  if (node.type === 'break') return '\n';
  if (node.type !== 'link') return `<${node.type}>`;
  const text = node.children.map(getText).join('');
  const isBare = [text, `http://${text}`, `mailto:${text}`].includes(node.url);
  return isBare ? text : `<link ${node.url}>`;
}
