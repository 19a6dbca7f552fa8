/** The document that an export renders, independent of the database and of HTTP. */
import type { RichText } from '#libs/rich-text';

/** A node of the tree; `content` is its rich text, or `null` without text. */
export type ExportNode = {
  id: string;
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: RichText | null;
  children: ExportNode[];
};

/** The properties of a document without its tree; `published_at` is ISO 8601 or `null`. */
export type DocumentProperties = {
  title: string;
  version: string | null;
  department: string | null;
  published_at: string | null;
  organization: string;
};

/** A document with its whole tree. */
export type ExportDocument = DocumentProperties & { nodes: ExportNode[] };
