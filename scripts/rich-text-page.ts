/** Generates docs/rich-text.md from the declarations of nodes and marks. */
import {
  calloutKinds,
  getCallout,
  type KnownAttribute,
  knownMarks,
  knownNodes,
  warningCodes,
} from '#libs/rich-text';
import { renderTable } from './page.ts';

type Row = Pick<
  (typeof knownNodes)[number],
  'type' | 'aliases' | 'attributes' | 'page' | 'word' | 'markdown' | 'gfm'
>;

const head = ['type', 'attributes', 'page', 'Word', 'Markdown', 'Markdown with `flavor=gfm`'];

/** Renders the sections of the page. */
export function richTextPage(): string[] {
  return [
    `The \`content\` of a node is a document of a ProseMirror editor such as Tiptap. You read back exactly what you sent.
Pages, Word files and Markdown files show what the tables list. Everything else is stored too, and shown as its text.

${code({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Wear gloves.', marks: [{ type: 'bold' }] }] }] })}

A node has \`type\`, and optionally \`content\`, \`text\`, \`marks\` and \`attrs\`. A mark has \`type\` and optionally
\`attrs\`. Other fields are rejected. The content of one node has at most 512 KiB and 32 nested \`content\` lists. Types
and attributes have the names of Tiptap; the names of ProseMirror's own schemas, which are in brackets, mean the same.`,
    `## Nodes\n\n${table(knownNodes)}`,
    `## Marks\n\n${table(knownMarks)}`,
    `## Callouts

A callout contains blocks. Its \`kind\` sets the signal word, which readers see and search finds. Any other kind is a
note. The first three words have the meanings of ANSI Z535.

${renderTable(['kind', 'signal word'], calloutKinds.map(toCalloutRow))}

${code({ type: 'callout', attrs: { kind: 'warning' }, content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hot surface.' }] }] })}`,
    `## Warnings

A write whose rich text will not be shown completely succeeds. Its response has the additional field \`warnings\`, with
at most 100 entries. \`path\` says where in the request. With the query parameter \`strict=true\` the write is rejected
with \`400 invalid_request\`, and \`errors\` has the same entries. Lost formatting alone is no warning: plain Markdown
files contain no marks.

${code({ warnings: [{ path: 'body/nodes/0/content/content/2', code: 'unknown_node', message: 'Only the text of a node of type "youtube" is shown' }] })}

${renderTable(
  ['code', 'meaning'],
  Object.entries(warningCodes).map(([name, meaning]) => [`\`${name}\``, meaning]),
)}`,
  ];
}

function table(rows: readonly Row[]): string {
  return renderTable(
    head,
    rows.map(({ type, aliases, attributes, page, word, markdown, gfm = markdown }) => [
      `\`${type}\`${toAliases(aliases)}`,
      Object.entries(attributes).map(toAttribute).join('; '),
      page,
      word,
      markdown,
      gfm,
    ]),
  );
}

function toAttribute([name, { aliases = [], description }]: [string, KnownAttribute]): string {
  return `\`${name}\`${toAliases(aliases)}: ${description}`;
}

function toAliases(aliases: readonly string[]): string {
  return aliases.length === 0 ? '' : ` (${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
}

function toCalloutRow(kind: string): string[] {
  return [`\`${kind}\``, getCallout({ type: 'callout', attrs: { kind } }).signalWord];
}

function code(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``;
}
