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
import { joinEscapes, readEscapes } from './markdown-escapes.ts';
import { headingsInText } from './markdown-headings.ts';
import { checkMarkdown } from './markdown-limits.ts';
import { escapePlaceholders, findEndTags } from './markdown-placeholders.ts';
import { isHeading, joinTables, type MarkdownNode } from './markdown-tables.ts';

/** Elements inside of a line that may surround Markdown: `H<sub>2</sub>O`. */
const inlineElement = /^(a|sub|sup|u|b|i|s|em|strong|mark|kbd|code|del|ins|small|span|script|style)$/;
const endTag = /^<\/([a-z]+)\s*>$/i;

/** The most pieces of HTML in one file: each is parsed by itself. */
const maxPieces = 10_000;

/** What is known of the file while its HTML is parsed. */
interface Context {
  pieces: number;
  endTags: ReadonlySet<string>;
}

/** Parses Markdown. HTML in it is read like an HTML file. Errors: `ImportRejected`. */
export function parseMarkdown(text: string): Root {
  checkMarkdown(text);
  const mdast = fromMarkdown(text, {
    extensions: [gfm()],
    mdastExtensions: [readEscapes, gfmFromMarkdown(), joinEscapes, headingsInText],
  });
  const tree = toHast(mdast, { allowDangerousHtml: true, clobberPrefix: '', handlers: { table: toTable } });
  if (tree.type !== 'root') return rejectImport('malformed', 'The file is not Markdown.');
  replaceRaw(tree, { pieces: 0, endTags: findEndTags(text) });
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

function replaceRaw(parent: Root | Element, context: Context): void {
  if (!parent.children.some(needsWork)) return;
  for (const child of parent.children) if (isHastElement(child)) replaceRaw(child, context);
  const levels: MarkdownNode[][] = [[]];
  const open: Element[] = [];
  for (const child of joinTables(parent.children, (html) => parsePiece(html, context))) {
    if (child.type !== 'raw') {
      if (isHeading(child)) closeTo(0);
      levels.at(-1)?.push(child);
      continue;
    }
    const html = child.value.trim();
    const children = parsePiece(html, context);
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

function parsePiece(html: string, context: Context): HastNode[] {
  context.pieces += 1;
  if (context.pieces > maxPieces)
    rejectImport('malformed', 'The Markdown has too many pieces of HTML. Upload it as .html.');
  return parseHtmlFragment(escapePlaceholders(html, context.endTags)).children;
}

/** Returns the element of a start tag that is alone, such as `<a href="…">`. What follows it is its content. */
function findOpenElement(html: string, [element, ...others]: readonly HastNode[]): Element | undefined {
  if (!element || !isHastElement(element) || others.length > 0 || element.children.length > 0)
    return undefined;
  const isAlone = inlineElement.test(element.tagName) && !html.includes('</') && !html.endsWith('/>');
  return isAlone ? element : undefined;
}

function needsWork(node: MarkdownNode): boolean {
  return node.type === 'raw' || node.type === 'element';
}

/** The children of an element are elements, texts and comments; all `raw` nodes have been replaced. */
function toChildren(nodes: MarkdownNode[]): Element['children'] {
  return nodes as Element['children'];
}
