/** Writes what an import creates as text that people can compare with the file. */
import { findFaults, type RichText } from '#libs/rich-text';
import type { Conversion } from '../../services/documents/imports/conversion.ts';
import type { TreeInput } from '../../services/documents/shapes.ts';

/**
 * Returns one line for the document, each node, each block and each part of the report. Ids are cut to 8 digits, and
 * `\n` is a line feed.
 */
export function toImportOutline(conversion: Conversion): string {
  if (!conversion.ok)
    return `rejected: ${'reason' in conversion.fault ? conversion.fault.reason : conversion.fault.limit}`;
  const { documents, report } = conversion.file;
  const lines = documents.flatMap(({ title, version, department, nodes }) => [
    [title, version && `version ${version}`, department && `department ${department}`]
      .filter(Boolean)
      .join(' | '),
    ...nodes.flatMap((node) => toNodeLines(node, '  ')),
  ]);
  const { format, dropped, warnings, pictures } = report;
  return [
    ...lines,
    `report: ${format}, ${report.nodes} nodes, ${pictures} pictures`,
    ...dropped.map(({ what, count }) => `dropped: ${what} ${count}`),
    ...warnings.map(({ code, path }) => `warning: ${code} ${path}`.trimEnd()),
  ].join('\n');
}

function toNodeLines({ node_type, title, content, children = [] }: TreeInput, indent: string): string[] {
  return [
    `${indent}${node_type}: ${title}`,
    ...parseBlocks(content).map((block) => `${indent}  | ${toLine(block)}`),
    ...children.flatMap((child) => toNodeLines(child, `${indent}  `)),
  ];
}

/** Parses the rich text of a node, which must be valid. */
export function parseBlocks(content: string | null | undefined): RichText[] {
  if (!content) return [];
  const value: RichText = JSON.parse(content);
  const [fault] = findFaults(value);
  if (fault) throw new Error(`Invalid rich text: ${fault.path} ${fault.message}`);
  return value.content ?? [];
}

function toLine(node: RichText): string {
  return (node.marks ?? []).reduce(
    (text, { type, attrs }) => `${type}${attrs ? `<${String(attrs.href)}>` : ''}(${text})`,
    toPlainLine(node),
  );
}

function toPlainLine(node: RichText): string {
  if (node.text !== undefined) return node.text.replaceAll('\n', '\\n');
  const attrs = node.attrs
    ? JSON.stringify(node.attrs).replace(/asset:([0-9a-f]{8})[0-9a-f]*/g, 'asset:$1')
    : '';
  return `${node.type}${attrs}[${(node.content ?? []).map(toLine).join(' ')}]`;
}
