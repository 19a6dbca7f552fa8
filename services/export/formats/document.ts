/** What an export is made from: one document, read once, free of database and HTTP. */
import type { RichText } from '#libs/rich-text';

/** One node of the tree; `content` is its rich text, `null` when it has none. */
export type ExportNode = {
  id: string;
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: RichText | null;
  children: ExportNode[];
};

/** A document without its tree; `published_at` is ISO 8601 or `null`. */
export type DocumentProperties = {
  title: string;
  version: string | null;
  department: string | null;
  published_at: string | null;
  organization: string;
};

/** The document with its whole tree. */
export type ExportDocument = DocumentProperties & { nodes: ExportNode[] };
