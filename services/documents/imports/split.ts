/** Splits the outline of a file into sections, steps and sub-steps. */
import type { Element } from 'hast';
import { createHastElement, type HastNode } from '#libs/rich-text';
import { maxTitleLength, type NodeType, nodeType } from '../shapes.ts';
import { isBlank } from './blank.ts';
import { addNotes, type Notes } from './notes.ts';
import { findMovedElements, type OutlineBlock, toTitle } from './outline.ts';
import type { ReportCollector } from './report.ts';
import { removeNumbers } from './typed-numbers.ts';

/** A node before its content is converted. `path` is that in the document, such as `nodes/0/children/1`. */
export interface SplitNode {
  nodeType: NodeType;
  title: string;
  path: string;
  content: HastNode[];
  children: SplitNode[];
}

const introduction = 'Introduction';

/**
 * Splits blocks. The heading levels that occur become sections, steps and sub-steps, from the top; headings of other
 * levels stay in the text. Content before the first heading is a section "Introduction", unless it is blank and
 * refers to none of the notes. Typed numbers are removed unless `keepsNumbers`.
 */
export function splitBlocks(
  blocks: readonly OutlineBlock[],
  report: ReportCollector,
  { notes, keepsNumbers = false }: { notes: Notes; keepsNumbers?: boolean },
): SplitNode[] {
  const levels = [...new Set(blocks.flatMap((block) => ('heading' in block ? block.level : [])))].sort();
  const numbered = keepsNumbers ? [] : levels.slice(0, nodeType.options.length);
  const titles = readTitles(blocks, numbered, report);
  const nodes: SplitNode[] = [];
  const open: SplitNode[] = [];
  for (const block of blocks) {
    const rank = 'heading' in block ? levels.indexOf(block.level) : -1;
    if ('heading' in block && rank < nodeType.options.length) {
      const depth = Math.min(rank, open.length);
      open.length = depth;
      const node = addNode(nodes, open, titles.get(block.heading) ?? toTitle(block.heading));
      if (depth < rank) report.warn('level_skipped', { path: node.path, detail: node.title });
      completeTitle(node, findMovedElements(block.heading), report);
      open.push(node);
      continue;
    }
    const content = 'heading' in block ? toTextHeading(block.heading, rank) : block.content;
    if (open.length === 0 && isBlank(addNotes([content], notes), report)) continue;
    if (open.length === 0) open.push(addNode(nodes, open, introduction));
    open.at(-1)?.content.push(content);
  }
  return nodes;
}

/** The titles of the headings of some levels, without typed numbers. */
function readTitles(
  blocks: readonly OutlineBlock[],
  levels: readonly number[],
  report: ReportCollector,
): Map<Element, string> {
  const titles = new Map<Element, string>();
  for (const level of levels) {
    const headings = blocks.flatMap((block) =>
      'heading' in block && block.level === level ? block.heading : [],
    );
    const written = headings.map(toTitle);
    const plain = removeNumbers(written, findTitleBefore(headings[0], blocks));
    if (plain) report.warn('numbers_removed', { detail: written[0] ?? '' });
    for (const [at, heading] of headings.entries()) titles.set(heading, (plain ?? written)[at] ?? '');
  }
  return titles;
}

/** The title of the heading before another one. */
function findTitleBefore(heading: Element | undefined, blocks: readonly OutlineBlock[]): string | undefined {
  const headings = blocks.flatMap((block) => ('heading' in block ? block.heading : []));
  const before = heading && headings[headings.indexOf(heading) - 1];
  return before && toTitle(before);
}

function addNode(nodes: SplitNode[], open: readonly SplitNode[], title: string): SplitNode {
  const parent = open.at(-1);
  const siblings = parent?.children ?? nodes;
  const path = `${parent ? `${parent.path}/children` : 'nodes'}/${siblings.length}`;
  const type = nodeType.options[open.length] ?? 'sub_step';
  const node: SplitNode = { nodeType: type, title, path, content: [], children: [] };
  siblings.push(node);
  return node;
}

/** A title is not empty and not too long. What moves from the heading to the text begins the text. */
function completeTitle(node: SplitNode, moved: Element[], report: ReportCollector): void {
  const { title, path } = node;
  node.title = cutTitle(title);
  if (node.title === '') {
    node.title = 'Untitled';
    report.warn('untitled', { path });
  } else if (node.title !== title) {
    node.content.push(createParagraph(title));
    report.warn('title_cut', { path, detail: title });
  }
  node.content.push(...moved);
}

/** Cuts a title to the length that a document or node can have. */
export function cutTitle(title: string): string {
  const characters = [...title];
  return characters.length <= maxTitleLength
    ? title
    : `${characters
        .slice(0, maxTitleLength - 1)
        .join('')
        .trimEnd()}…`;
}

/** A paragraph with a text. */
export function createParagraph(value: string): Element {
  return createHastElement('p', {}, [{ type: 'text', value }]);
}

function toTextHeading(heading: Element, rank: number): Element {
  return { ...heading, tagName: `h${Math.min(6, rank - nodeType.options.length + 1)}` };
}
