/** Renders the table of contents of a long document, with the pages on which the titles are printed. */
import { type Direction, toWellFormed } from '#libs/rich-text';
import type { AssetImages, ExportNode, WordDocument } from '../document.ts';
import type { TemplatePlan } from '../template/plan.ts';
import { type BodyWriter, limitIndent } from './body-writer.ts';
import { measureBlocks, measureHeading, measureTextBox } from './box-sizes.ts';
import { createPageFlow, type PageFlow } from './page-flow.ts';
import { renderParagraph } from './paragraph.ts';
import { estimateHeading, getMaxPictureHeight } from './picture-height.ts';
import { renderTextRuns } from './runs.ts';

/** A document with this many sections or pages gets contents. */
const MIN_SECTIONS = 8;
const MIN_PAGES = 5;
/** With more sections and steps than this, only sections are listed, as on the public page. */
const MAX_ENTRIES = 300;
/** The width of the numbers of headings, by level, and the indent of each level; twips. */
const NUMBER_WIDTHS = [540, 600, 720];
const LEVEL_INDENT = 720;
/** The size of the title in points; its lines, the table of properties and the empty paragraph below it, in twips. */
const TITLE_SIZE = 24;
const TITLE_LINE = 618;
const PROPERTY_WIDTH = 2_136;
const PROPERTIES_HEIGHT = 1_072;
/** The space above the title of the contents, twips. */
const CONTENTS_SPACE = 240;
const TEXT_LINE = 258;
/** The width of an entry's title: the text width without its number and the page; twips. */
const ENTRY_WIDTHS = [8_200, 7_600];

/** The levels of nodes that the contents can list. */
export const CONTENTS_DEPTH = 2;

/** The space above a section's heading, twips. */
const HEADING_SPACE = 360;

type Entry = { node: ExportNode; number: string; level: number };

/** The markup of the contents, and the numbers of the nodes that start a page. */
export type Contents = { markup: string; pageStarts: ReadonlySet<string> };

/** Returns the contents; undefined for a short document or for a template without them. */
export function renderContents(
  { plan, direction }: Pick<BodyWriter, 'plan' | 'direction'>,
  document: WordDocument,
): Contents | undefined {
  const { nodes } = document;
  if (!plan.hasContents || nodes.length === 0) return undefined;
  const front = measureFront(plan, document);
  const isLong = () => countPages(plan, document, front) >= MIN_PAGES;
  if (nodes.length < MIN_SECTIONS && !isLong()) return undefined;
  const entries = listEntries(nodes);
  const own = placeEntries(plan, { entries, front });
  const flow = placeNodes(plan, document, { entries, firstPage: own.page() + 1 });
  const items = entries.map((entry, at) =>
    renderEntry(entry, {
      page: flow.pages.get(entry.number) ?? 1,
      isFirst: at === 0,
      startsPage: own.breaks.has(entry.number),
      direction,
    }),
  );
  const levels = entries.some(({ level }) => level > 0) ? 2 : 1;
  const field = `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> TOC \\o "1-${levels}" \\h \\z \\u </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>`;
  const end = renderParagraph(
    { spacing: 'w:before="0" w:after="0" w:line="20" w:lineRule="exact"' },
    FIELD_END,
  );
  const markup =
    '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/><w:docPartUnique/></w:docPartObj></w:sdtPr><w:sdtContent>' +
    renderParagraph({ style: 'TOCHeading', direction }, renderTextRuns('Contents', direction)) +
    `${items.join('').replace(FIELD_START, field)}${end}</w:sdtContent></w:sdt>`;
  return { markup, pageStarts: new Set(['1', ...flow.breaks]) };
}

/** Returns the height of what the template has above the nodes: the title and the table of properties. */
function measureFront(plan: TemplatePlan, document: WordDocument): number {
  const { title, version, department, published_at, organization } = document;
  const titleLines = measureTextBox(title, plan.room.width, TITLE_SIZE, { isBold: true }).lines;
  const properties = [version, department, published_at?.slice(0, 10), organization];
  const lines = properties.map((text) => measureTextBox(text ?? '', PROPERTY_WIDTH, 10).lines);
  return TITLE_LINE * titleLines + PROPERTIES_HEIGHT + (Math.max(...lines) - 1) * TEXT_LINE;
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

/** Estimates the pages of the contents. */
function placeEntries(
  plan: TemplatePlan,
  { entries, front }: { entries: readonly Entry[]; front: number },
): PageFlow {
  const flow = createPageFlow(plan.room.height, { used: front + CONTENTS_SPACE });
  flow.add({ lines: 1, lineHeight: 322, after: 100, keepNext: true });
  for (const { node, number, level } of entries) {
    const before = level === 0 ? { before: 60 } : {};
    flow.add(measureTextBox(node.title, ENTRY_WIDTHS[level] ?? 0, 10, { ...before, name: number }));
  }
  return flow;
}

/** Estimates the pages of the nodes, which start on a new page after the contents. */
function placeNodes(
  plan: TemplatePlan,
  document: WordDocument,
  { entries, firstPage }: { entries: readonly Entry[]; firstPage: number },
): PageFlow {
  // after a page break, the space above the first heading remains
  const flow = createPageFlow(plan.room.height, { page: firstPage, space: HEADING_SPACE });
  const maxDepth = Math.max(...entries.map(({ level }) => level));
  for (const _ of addNodes(flow, plan, document.nodes, {
    depth: 0,
    maxDepth,
    parent: '',
    assets: document.assets,
  }));
  flow.end();
  return flow;
}

/** Counts the pages, up to the number from which on a document has contents. */
function countPages(plan: TemplatePlan, { nodes, assets }: WordDocument, used: number): number {
  const flow = createPageFlow(plan.room.height, { used });
  for (const _ of addNodes(flow, plan, nodes, { depth: 0, maxDepth: -1, parent: '', assets }))
    if (flow.page() >= MIN_PAGES) break;
  return flow.page();
}

type NodeOptions = {
  depth: number;
  maxDepth: number;
  parent: string;
  assets: AssetImages | undefined;
  above?: number;
};

/** Adds the boxes of the nodes in reading order, headings up to `maxDepth` with numbers; yields after each node. */
function* addNodes(
  flow: PageFlow,
  plan: TemplatePlan,
  nodes: readonly ExportNode[],
  { depth, maxDepth, parent, assets, above = 0 }: NodeOptions,
): Generator<void> {
  for (const [at, node] of nodes.entries()) {
    const number = parent === '' ? `${at + 1}` : `${parent}.${at + 1}`;
    const { width, height } = plan.room;
    const numberWidth = depth * LEVEL_INDENT + (NUMBER_WIDTHS[depth] ?? 0);
    const heading = measureHeading(node.title, depth, width - numberWidth);
    flow.add(depth <= maxDepth ? { ...heading, name: number } : heading);
    const { content } = node;
    const left = limitIndent({ width, left: 0 }, depth * LEVEL_INDENT);
    const headings = (at === 0 ? above : 0) + estimateHeading(node.title, width - left);
    const place = { left, width, height: getMaxPictureHeight(height, headings), assets };
    const blocks = content ? (toWellFormed(content).content ?? []) : [];
    for (const box of measureBlocks(blocks, place)) flow.add(box);
    yield;
    const below = {
      ...{ depth: depth + 1, maxDepth, parent: number, assets },
      above: blocks.length === 0 ? headings : 0,
    };
    yield* addNodes(flow, plan, node.children, below);
  }
}

function renderEntry(
  { node, number, level }: Entry,
  options: { page: number; isFirst: boolean; startsPage: boolean; direction: Direction },
): string {
  const { page, isFirst, startsPage, direction } = options;
  const bookmark = getBookmark(number);
  const tab = '<w:r><w:tab/></w:r>';
  const pageField =
    `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> PAGEREF ${bookmark} \\h </w:instrText></w:r>` +
    `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${renderTextRuns(`${page}`)}${FIELD_END}`;
  const link = `<w:hyperlink w:anchor="${bookmark}" w:history="1">${renderTextRuns(number)}${tab}${renderTextRuns(node.title, direction)}${tab}${pageField}</w:hyperlink>`;
  const properties = { style: `TOC${level + 1}`, pageBreakBefore: startsPage, direction };
  return renderParagraph(properties, (isFirst ? FIELD_START : '') + link);
}
