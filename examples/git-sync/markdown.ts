/** Converts a Markdown page to a document: `#` is the title, `##` a section, `###` a step and `####` a sub-step. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { Image, PhrasingContent, RootContent, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { NodeInput } from 'process-document-service-client';

/** The content of a document. */
export interface DocumentContent {
  title: string;
  version: string | null;
  department: string | null;
  language: string | null;
  nodes: NodeInput[];
}

/** A node of rich text, as the editor Tiptap has it. */
interface RichTextNode {
  type: string;
  attrs?: Record<string, unknown>;
  content?: RichTextNode[];
  text?: string;
  marks?: Mark[];
}

type Mark = { type: string; attrs?: Record<string, unknown> };

const levels = ['section', 'step', 'sub_step'] as const;
const fields = ['id', 'version', 'department', 'language', 'draft'];
const alert = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*/;

/** Reads the lines `name: value` between two lines `---` at the start of a page. Returns them, and what follows. */
export function readFrontMatter(text: string): { values: Record<string, string>; start: number } {
  const [head = '', lines = ''] = /^---\r?\n((?:(?!---\r?\n).*\r?\n)*)---\r?\n/.exec(text) ?? [];
  const pairs = lines.split(/\r?\n/).flatMap((line) => {
    if (line.trim() === '') return [];
    const [, name = '', value = ''] = /^(\w+):\s*(.*?)\s*$/.exec(line) ?? [];
    if (!fields.includes(name))
      throw new Error(`"${line}" in the front matter is not one of ${fields.join(', ')}`);
    return [[name, value.replace(/^(["'])(.*)\1$/, '$2')]];
  });
  return { values: Object.fromEntries(pairs), start: head.length };
}

/** Converts a page. Throws if it has something that a document cannot have. `path` is its file. */
export function toDocument(text: string, path: string): DocumentContent {
  const { values, start } = readFrontMatter(text);
  // the front matter becomes empty lines, so that errors name the line in the file
  const page = text.slice(0, start).replaceAll(/[^\n]/g, '') + text.slice(start);
  const { children } = fromMarkdown(page, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const [first, ...blocks] = children;
  if (first?.type !== 'heading' || first.depth !== 1)
    throw new Error('A page begins with its title: # Title');
  const nodes: NodeInput[] = [];
  const open: { node: NodeInput; blocks: RichTextNode[] }[] = [];
  for (const block of blocks) {
    if (block.type === 'heading' && block.depth < 5) {
      const level = block.depth - 2;
      const node_type = levels[level];
      if (!node_type) fail(block, 'only the first line is a title');
      if (level > open.length) fail(block, `a ${node_type} has to be in a ${levels[level - 1]}`);
      open.length = level;
      const node: NodeInput = { node_type, title: toPlainText(block.children) };
      const parent = open.at(-1)?.node;
      if (parent) parent.children = [...(parent.children ?? []), node];
      else nodes.push(node);
      open.push({ node, blocks: [] });
    } else {
      const last = open.at(-1);
      if (!last) fail(block, 'text has to be in a section');
      last.blocks.push(toBlock(block, path));
      last.node.content = { type: 'doc', content: last.blocks };
    }
  }
  const { version = null, department = null } = values;
  // the service stores the canonical form: `en-US` for `en-us`
  const language = values.language ? (Intl.getCanonicalLocales(values.language)[0] ?? null) : null;
  return { title: toPlainText(first.children), version, department, language, nodes };
}

function toBlock(block: RootContent, path: string): RichTextNode {
  const toBlocks = (list: RootContent[]) => list.map((one) => toBlock(one, path));
  switch (block.type) {
    case 'paragraph':
      return { type: 'paragraph', content: toInline(block.children, path) };
    case 'heading':
      return { type: 'heading', attrs: { level: block.depth }, content: toInline(block.children, path) };
    case 'list': {
      const isTasks = block.children.some(({ checked }) => typeof checked === 'boolean');
      const content = block.children.map((item) => ({
        ...(isTasks ? { type: 'taskItem', attrs: { checked: item.checked === true } } : { type: 'listItem' }),
        content: toBlocks(item.children),
      }));
      if (isTasks) return { type: 'taskList', content };
      return block.ordered
        ? { type: 'orderedList', attrs: { start: block.start ?? 1 }, content }
        : { type: 'bulletList', content };
    }
    case 'blockquote': {
      const [kind, children] = splitAlert(block.children);
      if (kind) return { type: 'callout', attrs: { kind }, content: toBlocks(children) };
      return { type: 'blockquote', content: toBlocks(children) };
    }
    case 'code':
      return {
        type: 'codeBlock',
        ...(block.lang && { attrs: { language: block.lang } }),
        ...(block.value && { content: [{ type: 'text', text: block.value }] }),
      };
    case 'table':
      return toTable(block, path);
    case 'thematicBreak':
      return { type: 'horizontalRule' };
    default:
      return fail(block, `"${block.type}" cannot be converted`);
  }
}

/** The kind of callout that a quote is, and its blocks without the mark `[!WARNING]`. */
function splitAlert(blocks: RootContent[]): [string | undefined, RootContent[]] {
  const [first, ...others] = blocks;
  const [text, ...inline] = first?.type === 'paragraph' ? first.children : [];
  const [mark, name = ''] = (text?.type === 'text' && alert.exec(text.value)) || [];
  if (first?.type !== 'paragraph' || text?.type !== 'text' || mark === undefined) return [undefined, blocks];
  const rest = { ...text, value: text.value.slice(mark.length) };
  const children = rest.value === '' ? inline : [rest, ...inline];
  const kind = ['WARNING', 'CAUTION'].includes(name) ? name.toLowerCase() : 'note';
  return [kind, children.length > 0 ? [{ ...first, children }, ...others] : others];
}

function toTable({ children }: Table, path: string): RichTextNode {
  const rows = children.map((row, at) => ({
    type: 'tableRow',
    content: row.children.map((cell) => ({
      type: at === 0 ? 'tableHeader' : 'tableCell',
      content: [{ type: 'paragraph', content: toInline(cell.children, path) }],
    })),
  }));
  return { type: 'table', content: rows };
}

function toInline(children: PhrasingContent[], path: string, marks: Mark[] = []): RichTextNode[] {
  const withMarks = marks.length > 0 && { marks };
  return children.flatMap((one): RichTextNode[] => {
    const inside = (list: PhrasingContent[], mark: Mark) => toInline(list, path, [...marks, mark]);
    switch (one.type) {
      case 'text':
        return [{ type: 'text', text: one.value.replaceAll(/\r?\n/g, ' '), ...withMarks }];
      case 'inlineCode':
        return [{ type: 'text', text: one.value, marks: [...marks, { type: 'code' }] }];
      case 'strong':
        return inside(one.children, { type: 'bold' });
      case 'emphasis':
        return inside(one.children, { type: 'italic' });
      case 'delete':
        return inside(one.children, { type: 'strike' });
      case 'link':
        return inside(one.children, { type: 'link', attrs: { href: one.url } });
      case 'break':
        return [{ type: 'hardBreak' }];
      case 'image':
        return [{ type: 'image', attrs: { src: toSource(one, path), alt: one.alt ?? '' } }];
      default:
        return fail(one, `"${one.type}" cannot be converted`);
    }
  });
}

/** Embeds an image that is a file beside the page. */
function toSource(image: Image, path: string): string {
  if (/^[a-z]+:/i.test(image.url)) return image.url;
  const file = resolve(dirname(path), decodeURIComponent(image.url));
  const type = extname(file).slice(1).toLowerCase().replace('jpg', 'jpeg');
  if (!existsSync(file)) fail(image, `the image "${image.url}" does not exist`);
  return `data:image/${type};base64,${readFileSync(file).toString('base64')}`;
}

function toPlainText(children: PhrasingContent[]): string {
  return children
    .map((one) => ('value' in one ? one.value : 'children' in one ? toPlainText(one.children) : ''))
    .join('');
}

function fail(at: { position?: { start: { line: number } } | undefined }, reason: string): never {
  throw new Error(`line ${at.position?.start.line}: ${reason}`);
}
