/** Reads GitHub Flavored Markdown as an HTML tree. */
import type { Element, Root } from 'hast';
import type { Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { defaultHandlers, type State, toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { type HastNode, isHastElement } from '#libs/rich-text';
import { parseHtmlFragment } from './html.ts';
import { rejectImport } from './import-fault.ts';
import { checkMarkdown } from './markdown-limits.ts';

/** Elements inside of a line that may surround Markdown: `H<sub>2</sub>O`. */
const inlineElement = /^(a|sub|sup|u|b|i|s|em|strong|mark|kbd|code|del|ins|small|span|script|style)$/;
const endTag = /^<\/([a-z]+)\s*>$/i;

/** The most pieces of HTML in one file: each is parsed by itself. */
const maxPieces = 10_000;

/** A node of the tree that mdast-util-to-hast creates; `raw` is HTML as it is written. */
type MarkdownNode = HastNode | { type: 'raw'; value: string };

/** Parses Markdown. HTML in it is read like an HTML file. Errors: `ImportRejected`. */
export function parseMarkdown(text: string): Root {
  checkMarkdown(text);
  const mdast = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const tree = toHast(mdast, { allowDangerousHtml: true, clobberPrefix: '', handlers: { table: toTable } });
  if (tree.type !== 'root') return rejectImport('malformed', 'The file is not Markdown.');
  replaceRaw(tree, { pieces: 0 });
  return tree;
}

/** Each table of Markdown has a header row. One without texts stands for none. */
function toTable(state: State, table: Table): Element {
  const element = defaultHandlers.table(state, table);
  const [header, ...rows] = table.children;
  if (rows.length === 0 || header?.children.some((cell) => cell.children.length > 0)) return element;
  const isHeader = (child: HastNode) => isHastElement(child) && child.tagName === 'thead';
  return { ...element, children: element.children.filter((child) => !isHeader(child)) };
}

function replaceRaw(parent: Root | Element, count: { pieces: number }): void {
  if (!parent.children.some(needsWork)) return;
  const levels: MarkdownNode[][] = [[]];
  const open: Element[] = [];
  for (const child of parent.children as MarkdownNode[]) {
    if (child.type !== 'raw') {
      if (isHastElement(child)) replaceRaw(child, count);
      if (isHeading(child)) closeTo(0);
      levels.at(-1)?.push(child);
      continue;
    }
    count.pieces += 1;
    if (count.pieces > maxPieces)
      rejectImport('malformed', 'The Markdown has too many pieces of HTML. Upload it as .html.');
    const html = child.value.trim();
    const { children } = parseHtmlFragment(html);
    const element = findOpenElement(html, children);
    const ended = endTag.exec(html)?.[1]?.toLowerCase();
    const at = open.findLastIndex(({ tagName }) => tagName === ended);
    if (element) {
      open.push(element);
      levels.push([]);
    } else if (at >= 0) closeTo(at);
    else levels.at(-1)?.push(...children);
  }
  closeTo(0);
  parent.children = toChildren(levels[0] ?? []);

  /** Ends the open elements from an index on, and adds each to the one around it. */
  function closeTo(index: number): void {
    while (open.length > index) {
      const content = levels.pop() ?? [];
      const element = open.pop();
      if (element) levels.at(-1)?.push({ ...element, children: toChildren(content) });
    }
  }
}

/** Returns the element of a start tag that is alone, such as `<a href="…">`. What follows it is its content. */
function findOpenElement(html: string, [element, ...others]: readonly HastNode[]): Element | undefined {
  if (!element || !isHastElement(element) || others.length > 0 || element.children.length > 0)
    return undefined;
  const isAlone = inlineElement.test(element.tagName) && !html.includes('</') && !html.endsWith('/>');
  return isAlone ? element : undefined;
}

/** A heading ends what is open before it, so that it becomes a section or step. */
function isHeading(node: MarkdownNode): boolean {
  return node.type === 'element' && /^h[1-6]$/.test(node.tagName);
}

function needsWork(node: MarkdownNode): boolean {
  return node.type === 'raw' || node.type === 'element';
}

/** The children of an element are elements, texts and comments; all `raw` nodes have been replaced. */
function toChildren(nodes: MarkdownNode[]): Element['children'] {
  return nodes as Element['children'];
}
