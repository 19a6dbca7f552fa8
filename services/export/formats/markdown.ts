/** Renders a document as Markdown; text in it never becomes markup. */
import type { Heading, Paragraph } from 'mdast';
import { toMarkdown, toMdast } from '#libs/rich-text';
import type { ExportDocument, ExportNode } from './document.ts';

/**
 * Renders the title as h1, a line with version and department if they are set, then sections as h2, steps as
 * h3 and sub-steps as h4. Text becomes plain paragraphs and bullet lists. The result ends in a line feed.
 */
export function renderMarkdown(document: ExportDocument): string {
  const top = toMarkdown([createHeading(1, document.title), ...createPropertyLine(document)]);
  return `${[top, ...renderNodes(document.nodes)].join('\n\n')}\n`;
}

const DEPTHS = { section: 2, step: 3, sub_step: 4 } as const;

/** Renders one node at a time, so that only one Markdown tree is in memory. */
function* renderNodes(siblings: readonly ExportNode[]): Generator<string> {
  for (const { node_type, title, content, children } of siblings) {
    yield toMarkdown([createHeading(DEPTHS[node_type], title), ...(content ? toMdast(content) : [])]);
    yield* renderNodes(children);
  }
}

function createHeading(depth: Heading['depth'], title: string): Heading {
  return { type: 'heading', depth, children: [{ type: 'text', value: toSingleLine(title) }] };
}

function createPropertyLine({ version, department }: ExportDocument): Paragraph[] {
  const values = [
    version && `Version ${toSingleLine(version)}`,
    department && `Department ${toSingleLine(department)}`,
  ];
  const value = values.filter(Boolean).join(' · ');
  return value === '' ? [] : [{ type: 'paragraph', children: [{ type: 'text', value }] }];
}

/** Replaces control characters and line breaks by spaces, because a heading is one line. */
function toSingleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
