/** Finds the title and the headings of an imported file, and what is between them. */
import type { Element, Root } from 'hast';
import { type HastNode, hasClass, isHastElement, toHastText } from '#libs/rich-text';

/** A heading or anything else at the top level of the file. */
export type OutlineBlock = { heading: Element; level: number } | { content: HastNode };

/** The title of the file, undefined if it has none, and the blocks without the title. */
export interface Outline {
  title: string | undefined;
  blocks: OutlineBlock[];
}

const groups = new Set([
  ...[
    'html',
    'body',
    'div',
    'section',
    'article',
    'main',
    'header',
    'footer',
    'nav',
    'aside',
    'center',
    'form',
  ],
  ...['details', 'hgroup', 'figure', 'fieldset'],
]);

/**
 * Reads the outline. The title is the first paragraph in the style Title, which has the class `title`. Without one, it
 * is the first heading, if it is the only one of its level, above all others and at most at level `maxTitleLevel`.
 */
export function readOutline(tree: Root, { maxTitleLevel = 6 } = {}): Outline {
  const blocks = keepInText(tree.children.flatMap(flatten).map(toBlock));
  const at = findTitle(blocks, maxTitleLevel);
  const found = blocks[at];
  if (!found || !('heading' in found)) return { title: undefined, blocks };
  const moved = findMovedElements(found.heading).map((content) => ({ content }));
  return {
    title: toTitle(found.heading),
    blocks: [...blocks.slice(0, at), ...moved, ...blocks.slice(at + 1)],
  };
}

/** The text of a heading in one line, without references to notes. */
export function toTitle(heading: Element): string {
  return toTitleText(heading)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

function toTitleText(node: HastNode): string {
  if (isNoteReference(node)) return '';
  return isHastElement(node) && node.tagName !== 'br'
    ? node.children.map(toTitleText).join('')
    : toHastText(node);
}

/**
 * The pictures and the links inside the file, such as references to notes, in a heading. They move to the text below
 * it, where the links have no text.
 */
export function findMovedElements(node: HastNode): Element[] {
  if (!isHastElement(node)) return [];
  if (node.tagName === 'img') return [node];
  const moved = node.children.flatMap(findMovedElements);
  return isInnerLink(node) ? [{ ...node, children: moved }] : moved;
}

function isNoteReference(node: HastNode): boolean {
  return isHastElement(node) && node.tagName === 'sup' && node.children.some(isInnerLink);
}

function isInnerLink(node: HastNode): boolean {
  return isHastElement(node) && node.tagName === 'a' && String(node.properties.href).startsWith('#');
}

/** Takes elements that group others apart, if there are headings in them. */
function flatten(node: HastNode): HastNode[] {
  if (!isHastElement(node) || !groups.has(node.tagName) || !containsHeading(node)) return [node];
  const nodes: HastNode[] = [];
  let rest: Element['children'] = [];
  const endRest = () => {
    if (rest.length > 0) nodes.push({ ...node, children: rest });
    rest = [];
  };
  for (const child of node.children) {
    if (!containsHeading(child)) {
      rest.push(child);
      continue;
    }
    endRest();
    nodes.push(...flatten(child));
  }
  endRest();
  return nodes;
}

function containsHeading(node: HastNode): boolean {
  if (!isHastElement(node)) return false;
  return getLevel(node) !== undefined || (groups.has(node.tagName) && node.children.some(containsHeading));
}

/** The level of `h1` to `h6`, else undefined. */
export function getLevel({ tagName }: Element): number | undefined {
  const level = /^h([1-6])$/.exec(tagName)?.[1];
  return level === undefined ? undefined : Number(level);
}

function toBlock(node: HastNode): OutlineBlock {
  const level = isHastElement(node) ? getLevel(node) : undefined;
  return level === undefined || !isHastElement(node) ? { content: node } : { heading: node, level };
}

/** Makes text of the headings that are marked with `dataInText`, from level 1 below that of their node. */
function keepInText(blocks: readonly OutlineBlock[]): OutlineBlock[] {
  let above = 0;
  return blocks.map((block) => {
    if (!('heading' in block)) return block;
    const { heading, level } = block;
    if (heading.properties.dataInText === true)
      return { content: { ...heading, tagName: `h${Math.max(1, level - above)}` } };
    above = level;
    return block;
  });
}

/** Returns -1 without a title. */
function findTitle(blocks: OutlineBlock[], maxLevel: number): number {
  const titled = blocks.findIndex((block) => 'heading' in block && hasClass(block.heading, 'title'));
  if (titled >= 0) {
    // a second one is a paragraph like any other
    for (const [at, block] of blocks.entries())
      if (at !== titled && 'heading' in block && hasClass(block.heading, 'title'))
        blocks[at] = { content: { ...block.heading, tagName: 'p' } };
    return titled;
  }
  const first = blocks.findIndex((block) => 'heading' in block);
  const level = getBlockLevel(blocks[first]);
  const isAbove = blocks.every((block, at) => at === first || getBlockLevel(block) > level);
  return isAbove && level <= maxLevel ? first : -1;
}

/** Text is below all headings. */
function getBlockLevel(block: OutlineBlock | undefined): number {
  return block && 'heading' in block ? block.level : Number.POSITIVE_INFINITY;
}
