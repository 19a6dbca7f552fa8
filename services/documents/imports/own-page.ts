/** Reads an HTML file that the service has exported: its nodes, without the frame of facts, contents and numbers. */
import type { Element, Root } from 'hast';
import { type HastNode, hasClass, isHastElement } from '#libs/rich-text';
import { htmlGenerator, type toHtmlMeta } from '../html-file.ts';
import { maxDepartmentLength, maxVersionLength } from '../shapes.ts';
import type { Facts } from './fact-line.ts';
import { getLevel, type Outline, type OutlineBlock, toTitle } from './outline.ts';

type MetaName = keyof ReturnType<typeof toHtmlMeta>;

/** The levels of nodes by the class of their element. */
const levels = new Map([
  ['section', 1],
  ['step', 2],
  ['sub-step', 3],
]);

/** Returns the title, the nodes and the facts of such a file; undefined for any other file. */
export function readOwnPage(tree: Root): (Outline & { facts: Facts }) | undefined {
  if (getMeta(tree, 'generator') !== htmlGenerator) return undefined;
  const title = find(tree, ({ tagName }) => tagName === 'h1');
  const article = find(tree, ({ properties }) => properties.id === 'document');
  if (!title || !article) return undefined;
  const facts = {
    version: limit(getMeta(tree, 'document-version'), maxVersionLength),
    department: limit(getMeta(tree, 'document-department'), maxDepartmentLength),
  };
  return { title: toTitle(title), blocks: article.children.flatMap(toBlocks), facts };
}

/** A node is a heading with its number and the element with its rich text. Headings in the text stay there. */
function toBlocks(node: HastNode): OutlineBlock[] {
  if (!isHastElement(node)) return [];
  const level = [...levels].find(([name]) => hasClass(node, name))?.[1];
  const [heading, ...text] = node.children.filter(isHastElement);
  if (level === undefined || !heading) return [{ content: node }];
  const children = heading.children.filter((child) => !isHastElement(child) || !hasClass(child, 'number'));
  const above = getLevel(heading) ?? 0;
  const contents = text.map((content) => ({ content: toText(content, above) }));
  return [{ heading: { ...heading, children }, level }, ...contents];
}

/**
 * The page has the headings of a text below that of its node. In rich text they begin at level 1. Callouts have their
 * own element, so a quote is none, even if its text is like an alert of GitHub.
 */
function toText(element: Element, by: number): Element {
  const level = getLevel(element);
  const tagName = level === undefined ? element.tagName : `h${Math.max(1, level - by)}`;
  const children = element.children.map((child) => (isHastElement(child) ? toText(child, by) : child));
  const properties =
    tagName === 'blockquote' ? { ...element.properties, dataAlert: false } : element.properties;
  return { ...element, tagName, properties, children };
}

function getMeta(tree: Root, name: MetaName): string | null {
  const meta = find(tree, ({ tagName, properties }) => tagName === 'meta' && properties.name === name);
  return typeof meta?.properties.content === 'string' ? meta.properties.content : null;
}

/** A text that no document could have is left out. */
function limit(text: string | null, maxLength: number): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' || [...trimmed].length > maxLength ? null : trimmed;
}

/** Returns the first element that matches, in the order of the file. */
function find(tree: Root | Element, matches: (element: Element) => boolean): Element | undefined {
  for (const child of tree.children) {
    if (!isHastElement(child)) continue;
    const found = matches(child) ? child : find(child, matches);
    if (found) return found;
  }
  return undefined;
}
