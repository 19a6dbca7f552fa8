/** Renders a document as Markdown in which hostile text stays text. */
import type { Heading, Paragraph, RootContent } from 'mdast';
import { toMarkdown, toMdast } from '#libs/rich-text';
import type { ExportDocument, ExportNode } from './document.ts';

/**
 * The title as h1, below it one line with version and department as far as they are set, then sections as h2, steps as h3
 * and sub-steps as h4, each with its text as plain paragraphs and bullet lists. UTF-8, ends in a line feed.
 */
export function renderMarkdown(document: ExportDocument): string {
  return `${toMarkdown([heading(1, document.title), ...facts(document), ...document.nodes.flatMap(node)])}\n`;
}

const DEPTHS = { section: 2, step: 3, sub_step: 4 } as const;

function node({ node_type, title, content, children }: ExportNode): RootContent[] {
  const text = content ? toMdast(content) : [];
  return [heading(DEPTHS[node_type], title), ...text, ...children.flatMap(node)];
}

function heading(depth: Heading['depth'], title: string): Heading {
  return { type: 'heading', depth, children: [{ type: 'text', value: oneLine(title) }] };
}

function facts({ version, department }: ExportDocument): Paragraph[] {
  const known = [version && `Version ${oneLine(version)}`, department && `Department ${oneLine(department)}`];
  const value = known.filter(Boolean).join(' · ');
  return value === '' ? [] : [{ type: 'paragraph', children: [{ type: 'text', value }] }];
}

/** Control characters have no place in a text file, and a heading is one line. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}
