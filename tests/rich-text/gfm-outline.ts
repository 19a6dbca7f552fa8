/** Outlines GitHub Flavored Markdown, parsed by an independent parser, and trees, so that tests can compare them. */
import type { Nodes, Parents } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A text, or a node with its attributes and children. */
export type GfmOutline = string | Element;
interface Element extends Array<GfmOutline> {}

/** The outline of parsed Markdown. A link that GitHub creates from a bare address counts as text. */
export function outlineGfm(markdown: string): GfmOutline[] {
  const root = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return outlineChildren(root, markdown);
}

/** The outline of a tree before it is written as Markdown. */
export function outlineTree(children: Parents['children']): GfmOutline[] {
  return outlineChildren({ type: 'root', children } as Parents, '');
}

function outlineChildren(parent: Parents, source: string): GfmOutline[] {
  const outlines: GfmOutline[] = [];
  for (const child of parent.children) {
    const outline = outlineNode(child, source);
    const last = outlines.at(-1);
    if (typeof outline === 'string' && typeof last === 'string')
      outlines[outlines.length - 1] = last + outline;
    else outlines.push(outline);
  }
  return outlines;
}

function outlineNode(node: Nodes, source: string): GfmOutline {
  if (node.type === 'text') return node.value;
  if (!('children' in node)) return [describe(node)];
  const children = outlineChildren(node, source);
  if (node.type === 'link' && isBare(node.url, children[0]) && isLiteral(node, source))
    return `${children[0]}`;
  if (node.type === 'blockquote') return outlineQuote(node, children, source);
  return [describe(node), ...children];
}

/** The kind of an alert is its first line. It is no alert if its bracket is escaped. */
function outlineQuote(node: Nodes, children: GfmOutline[], source: string): GfmOutline {
  if (node.data && 'alert' in node.data) return [`alert ${node.data.alert}`, ...children];
  const start = 'children' in node ? node.children[0]?.position?.start.offset : undefined;
  const [, kind] = /^\[!([A-Z]+)\]\n/.exec(start === undefined ? '' : source.slice(start)) ?? [];
  const [first, ...rest] = children;
  if (kind === undefined || !Array.isArray(first)) return ['blockquote', ...children];
  const [name, line, ...inline] = first;
  const text = `${line}`.slice(`[!${kind}]`.length).replace('\n', '');
  const paragraph: GfmOutline[] = [...(text === '' ? [] : [text]), ...inline];
  return [`alert ${kind}`, ...(paragraph.length === 0 ? [] : [[name, ...paragraph] as GfmOutline]), ...rest];
}

function describe(node: Nodes): string {
  switch (node.type) {
    case 'heading':
      return `heading ${node.depth}`;
    case 'list':
      return node.ordered ? `list from ${node.start ?? 1}` : 'list';
    case 'listItem':
      return typeof node.checked === 'boolean' ? `task ${node.checked}` : 'item';
    case 'link':
      return `link ${node.url}`;
    case 'image':
      return `image ${JSON.stringify([node.url, node.alt ?? '', node.title ?? ''])}`;
    case 'code':
      return `code ${JSON.stringify([node.lang ?? '', node.value])}`;
    case 'inlineCode':
      return `inlineCode ${node.value}`;
    case 'html':
      return `html ${node.value}`;
    default:
      return node.type;
  }
}

function isBare(url: string, text: GfmOutline | undefined): boolean {
  return text !== undefined && [text, `http://${text}`, `mailto:${text}`].includes(url);
}

/** Whether a parsed link has no brackets; the parser finds some of them in the text and gives them no position. */
function isLiteral({ position }: Nodes, source: string): boolean {
  return source !== '' && source[position?.start.offset ?? -1] !== '[';
}
