/** Reads GitHub Flavored Markdown as an HTML tree. */
import type { Element, Root } from 'hast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { type HastNode, isHastElement } from '#libs/rich-text';
import { parseHtmlFragment } from './html.ts';
import { rejectImport } from './import-fault.ts';
import { checkMarkdown } from './markdown-limits.ts';

/** Tags inside of a line that may surround Markdown: `H<sub>2</sub>O`. */
const inlineTag = /^<(\/?)(sub|sup|u|b|i|s|em|strong|mark|kbd|code|del|ins|small|span|script|style)\s*>$/i;

/** The most pieces of HTML in one file: each is parsed by itself. */
const maxPieces = 10_000;

/** A node of the tree that mdast-util-to-hast creates; `raw` is HTML as it is written. */
type MarkdownNode = HastNode | { type: 'raw'; value: string };

/** Parses Markdown. HTML in it is read like an HTML file. Errors: `ImportRejected`. */
export function parseMarkdown(text: string): Root {
  checkMarkdown(text);
  const mdast = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const tree = toHast(mdast, { allowDangerousHtml: true, clobberPrefix: '' });
  if (tree.type !== 'root') return rejectImport('malformed', 'The file is not Markdown.');
  replaceRaw(tree, { pieces: 0 });
  return tree;
}

function replaceRaw(parent: Root | Element, count: { pieces: number }): void {
  if (!parent.children.some(needsWork)) return;
  const levels: MarkdownNode[][] = [[]];
  const open: Element[] = [];
  for (const child of parent.children as MarkdownNode[]) {
    if (child.type !== 'raw') {
      if (isHastElement(child)) replaceRaw(child, count);
      levels.at(-1)?.push(child);
      continue;
    }
    count.pieces += 1;
    if (count.pieces > maxPieces)
      rejectImport('malformed', 'The Markdown has too many pieces of HTML. Upload it as .html.');
    const [, end, tag = ''] = inlineTag.exec(child.value.trim()) ?? [];
    if (end === '') {
      open.push({ type: 'element', tagName: tag.toLowerCase(), properties: {}, children: [] });
      levels.push([]);
    } else if (end === '/' && open.at(-1)?.tagName === tag.toLowerCase()) closeInto();
    else if (end === undefined) levels.at(-1)?.push(...parseHtmlFragment(child.value).children);
  }
  while (open.length > 0) closeInto();
  parent.children = toChildren(levels[0] ?? []);

  /** Ends the innermost element and adds it to the one around it. */
  function closeInto(): void {
    const content = levels.pop() ?? [];
    const element = open.pop();
    if (element) levels.at(-1)?.push({ ...element, children: toChildren(content) });
  }
}

function needsWork(node: MarkdownNode): boolean {
  return node.type === 'raw' || node.type === 'element';
}

/** The children of an element are elements, texts and comments; all `raw` nodes have been replaced. */
function toChildren(nodes: MarkdownNode[]): Element['children'] {
  return nodes as Element['children'];
}
