/** Renders the table of contents of a long document, with the pages on which the titles are printed. */
import { toWellFormed } from '#libs/rich-text';
import type { ExportNode, WordDocument } from '../document.ts';
import type { TemplatePlan } from '../template/plan.ts';
import { limitIndent } from './body-writer.ts';
import { measureBlocks, measureHeading, measureTextBox } from './box-sizes.ts';
import { createPageFlow, type PageFlow } from './page-flow.ts';
import { renderParagraph } from './paragraph.ts';
import { estimateHeading, getMaxPictureHeight } from './picture-height.ts';
import { renderTextRun } from './runs.ts';

/** A document with this many sections or pages gets contents. */
const MIN_SECTIONS = 8;
const MIN_PAGES = 5;
/** With more sections and steps than this, only sections are listed, as on the public page. */
const MAX_ENTRIES = 300;
/** The width of the numbers of headings, by level, and the indent of each level; twips. */
const NUMBER_WIDTHS = [540, 600, 720];
const LEVEL_INDENT = 720;
/** The height of the title, of the table of properties and of the empty paragraph above the nodes; twips. */
const TITLE_SIZE = 24;
const PROPERTIES_HEIGHT = 1_020;
/** The width of an entry's title: the text width without its number and the page; twips. */
const ENTRY_WIDTHS = [8_200, 7_600];

/** The levels of nodes that the contents can list. */
export const CONTENTS_DEPTH = 2;

/** The space above a section's heading, twips. */
const HEADING_SPACE = 360;

type Entry = { node: ExportNode; number: string; level: number };

/** Returns the markup of the contents; '' for a short document or for a template without them. */
export function renderContents(plan: TemplatePlan, document: WordDocument): string {
  const { nodes } = document;
  if (!plan.hasContents || nodes.length === 0) return '';
  const front =
    TITLE_SIZE * 26 * measureTextBox(document.title, plan.room.width, TITLE_SIZE).lines + PROPERTIES_HEIGHT;
  const isLong = () => countPages(plan, nodes, { offset: front }) >= MIN_PAGES;
  if (nodes.length < MIN_SECTIONS && !isLong()) return '';
  const entries = listEntries(nodes);
  const pages = getPages(plan, document, { entries, front });
  const items = entries.map((entry, at) => renderEntry(entry, pages[at] ?? 1, at === 0));
  const levels = entries.some(({ level }) => level > 0) ? 2 : 1;
  const field = `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> TOC \\o "1-${levels}" \\h \\z \\u </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`;
  const end = renderParagraph(
    { spacing: 'w:before="0" w:after="0" w:line="20" w:lineRule="exact"' },
    FIELD_END,
  );
  return (
    '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj></w:sdtPr><w:sdtContent>' +
    renderParagraph({ style: 'TOCHeading' }, renderTextRun('Contents')) +
    `${items.join('').replace(FIELD_START, field)}${end}</w:sdtContent></w:sdt>`
  );
}

/** Returns the bookmark of the node with this number among all nodes, which its entry refers to. */
export function getBookmark(number: string): string {
  return `_Toc${number.replaceAll('.', '_')}`;
}

const FIELD_END = '<w:r><w:fldChar w:fldCharType="end"/></w:r>';
/** Stands for the start of the field; no text can contain it, because it is markup. */
const FIELD_START = '<w:field/>';

function listEntries(sections: readonly ExportNode[]): Entry[] {
  const all = sections.reduce((sum, { children }) => sum + 1 + children.length, 0);
  return sections.flatMap((node, at) => [
    { node, number: `${at + 1}`, level: 0 },
    ...(all > MAX_ENTRIES
      ? []
      : node.children.map((step, below) => ({ node: step, number: `${at + 1}.${below + 1}`, level: 1 }))),
  ]);
}

/** Estimates the pages of the entries. The nodes start on a new page after the contents. */
function getPages(
  plan: TemplatePlan,
  document: WordDocument,
  { entries, front }: { entries: readonly Entry[]; front: number },
): readonly number[] {
  const contents = createPageFlow(plan.room.height, { offset: front });
  contents.add({ lines: 1, lineHeight: 322, before: 240, after: 100, keepNext: true });
  for (const { node, level } of entries)
    contents.add(measureTextBox(node.title, ENTRY_WIDTHS[level] ?? 0, 10, level === 0 ? { before: 60 } : {}));
  // after a page break, the space above the first heading remains
  const flow = createPageFlow(plan.room.height, { page: contents.page() + 1, offset: HEADING_SPACE });
  const maxDepth = Math.max(...entries.map(({ level }) => level));
  for (const _ of addNodes(flow, plan, document.nodes, { depth: 0, maxDepth }));
  return flow.entries;
}

/** Counts the pages, up to the number from which on a document has contents. */
function countPages(plan: TemplatePlan, nodes: readonly ExportNode[], start: { offset: number }): number {
  const flow = createPageFlow(plan.room.height, start);
  for (const _ of addNodes(flow, plan, nodes, { depth: 0, maxDepth: 0 })) if (flow.page() >= MIN_PAGES) break;
  return flow.page();
}

/** Adds the boxes of the nodes in reading order, those up to `maxDepth` as entries; yields after each node. */
function* addNodes(
  flow: PageFlow,
  plan: TemplatePlan,
  nodes: readonly ExportNode[],
  { depth, maxDepth, above = 0 }: { depth: number; maxDepth: number; above?: number },
): Generator<void> {
  for (const [at, node] of nodes.entries()) {
    const { width, height } = plan.room;
    const numberWidth = depth * LEVEL_INDENT + (NUMBER_WIDTHS[depth] ?? 0);
    const heading = measureHeading(node.title, depth, width - numberWidth);
    flow.add({ ...heading, isEntry: depth <= maxDepth });
    const { content } = node;
    const left = limitIndent({ width, left: 0 }, depth * LEVEL_INDENT);
    const headings = (at === 0 ? above : 0) + estimateHeading(node.title, width - left);
    const place = { left, width, height: getMaxPictureHeight(height, headings) };
    const blocks = content ? (toWellFormed(content).content ?? []) : [];
    for (const box of measureBlocks(blocks, place)) flow.add(box);
    yield;
    const below = { depth: depth + 1, maxDepth, above: blocks.length === 0 ? headings : 0 };
    yield* addNodes(flow, plan, node.children, below);
  }
}

function renderEntry({ node, number, level }: Entry, page: number, isFirst: boolean): string {
  const bookmark = getBookmark(number);
  const tab = '<w:r><w:tab/></w:r>';
  const pageField =
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGEREF ${bookmark} \\h </w:instrText></w:r>` +
    `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${renderTextRun(`${page}`)}${FIELD_END}`;
  const link = `<w:hyperlink w:anchor="${bookmark}" w:history="1">${renderTextRun(number)}${tab}${renderTextRun(node.title)}${tab}${pageField}</w:hyperlink>`;
  return renderParagraph({ style: `TOC${level + 1}` }, (isFirst ? FIELD_START : '') + link);
}
