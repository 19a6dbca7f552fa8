/** Exports documents of tests as Markdown and HTML files, without a database. */
import { newId } from '#libs/contract';
import type { MarkdownFlavor } from '../../services/export/contract.ts';
import type { ExportNode } from '../../services/export/formats/document.ts';
import { renderHtml } from '../../services/export/formats/html.ts';
import { renderMarkdown } from '../../services/export/formats/markdown.ts';
import type { NodeRow } from '../../services/export/rules.ts';
import { rendererFixture } from '../../services/sharing/page/renderer-fixture.ts';

/** A document without what only a published version has. */
export interface ExportInput {
  title: string;
  version: string | null;
  department: string | null;
  nodes: ExportNode[];
}

/** Exports a draft as Markdown. */
export function exportMarkdown(input: ExportInput, flavor: MarkdownFlavor): string {
  const facts = { published_at: null, approved_at: null, organization: 'Acme' };
  return renderMarkdown({ ...input, ...facts }, flavor);
}

/** Exports a draft as an HTML file. */
export function exportHtml({ title, version, department, nodes }: ExportInput): Uint8Array {
  const rows: NodeRow[] = [];
  const add = (parent_id: string | null, children: readonly ExportNode[]) => {
    for (const [order, { node_type, title, content, children: below }] of children.entries()) {
      const _id = newId();
      const text = content === null ? null : JSON.stringify(content);
      rows.push({ _id, document_id: '', parent_id, node_type, title, content: text, order });
      add(_id, below);
    }
  };
  add(null, nodes);
  const state = { ...rendererFixture.document, created_by: newId(), title, version, department };
  const { organization } = rendererFixture;
  const source = { document: { ...state, status: 'draft' as const, published_at: null }, organization };
  const file = renderHtml(source, rows, { assets: new Map(), maxPictureBytes: 0 });
  if (!file) throw new Error('The document has no pictures');
  return file;
}
