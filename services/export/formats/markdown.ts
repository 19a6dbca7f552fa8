/** Renders a document as Markdown; text in it never becomes markup. */
import type { BlockContent, Heading, Paragraph } from 'mdast';
import { toMarkdown } from '#libs/markdown';
import { type RichText, toGfm, toMdast } from '#libs/rich-text';
import type { MarkdownFlavor } from '../contract.ts';
import type { ExportDocument, ExportNode } from './document.ts';

/**
 * Renders the title as h1, a line with version and department if they are set, then sections as h2, steps as
 * h3 and sub-steps as h4. In the flavor `plain`, text becomes plain paragraphs and bullet lists; in `gfm`, it has
 * all that GitHub Flavored Markdown can express. The result ends in a line feed.
 */
export function renderMarkdown(document: ExportDocument, flavor: MarkdownFlavor): string {
  const top = toMarkdown([createHeading(1, document.title), ...createPropertyLine(document)]);
  return `${[top, ...renderNodes(document.nodes, flavor)].join('\n\n')}\n`;
}

const noBreakSpace = '\u00a0';

const DEPTHS = { section: 2, step: 3, sub_step: 4 } as const;

/** Renders one node at a time, so that only one Markdown tree is in memory. */
function* renderNodes(siblings: readonly ExportNode[], flavor: MarkdownFlavor): Generator<string> {
  for (const { node_type, title, content, children } of siblings) {
    const depth = DEPTHS[node_type];
    const blocks = content ? toBlocks(content, depth, flavor) : [];
    yield toMarkdown([createHeading(depth, title), ...blocks]);
    yield* renderNodes(children, flavor);
  }
}

/** Headings in the text of a node are below the node's own heading, and marked: an import makes no nodes of them. */
function toBlocks(content: RichText, depth: number, flavor: MarkdownFlavor): BlockContent[] {
  if (flavor !== 'gfm') return toMdast(content);
  return toGfm(content, { headingLevel: depth + 1 }).map((block) =>
    block.type === 'heading' ? { ...block, data: { isClosed: true } } : block,
  );
}

function createHeading(depth: Heading['depth'], title: string): Heading {
  return { type: 'heading', depth, children: [{ type: 'text', value: toSingleLine(title) }] };
}

function createPropertyLine({ version, department, approved_at }: ExportDocument): Paragraph[] {
  const values = [
    ['Version', toSingleLine(version ?? '')],
    ['Department', toSingleLine(department ?? '')],
    ['Approved', approved_at?.slice(0, 10)],
  ];
  const facts = values.flatMap(([name, text]) => (text ? [`${name} ${text}`] : []));
  const line = facts.join(' · ');
  // by the no-break space, an import tells one fact from prose, such as "Version control saves time"
  const couldBeProse = facts.length === 1 && !/^Version v?\d\S*$/.test(line);
  const value = couldBeProse ? line.replace(' ', noBreakSpace) : line;
  return value === '' ? [] : [{ type: 'paragraph', children: [{ type: 'text', value }] }];
}

/** Replaces control characters and line breaks by spaces, because a heading is one line. */
function toSingleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
