/** The document that an export renders, independent of the database and of HTTP. */
import type { Image, RichText } from '#libs/rich-text';

/** A node of the tree; `content` is its rich text, or `null` without text. */
export type ExportNode = {
  id: string;
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: RichText | null;
  children: ExportNode[];
};

/**
 * The properties of a document without its tree. Times are ISO 8601 or `null`. Only a published version has
 * `approved_at`.
 */
export type DocumentProperties = {
  title: string;
  version: string | null;
  department: string | null;
  published_at: string | null;
  approved_at: string | null;
  organization: string;
};

/** A document with its whole tree. */
export type ExportDocument = DocumentProperties & { nodes: ExportNode[] };

/** A published version; `published_at` is ISO 8601, `published_by` the name of the user, '' if unknown. */
export type PublishedVersion = { version: string | null; published_at: string; published_by: string };

/**
 * What identifies a copy of a document on paper. Times are ISO 8601; `exported_at` is a day. Text that does not exist
 * is ''.
 */
export type DocumentRecord = {
  id: string;
  /** `superseded` if a later version of the family was published. */
  status: 'draft' | 'published' | 'archived' | 'superseded';
  /** The label of the version that was published next. */
  superseded_by: string;
  owner: string;
  editor: string;
  /** The public link. Empty if the template does not use it. */
  url: string;
  /** Empty if the template does not use it. */
  exported_at: string;
  created_at: string;
  updated_at: string;
  /** The first 12 digits of the content hash. */
  content_hash: string;
  change_summary: string;
  /** The day of the approval. A draft has none. */
  approved_at: string;
  /** The names of those who approved, in this order. Empty if the template does not use it. */
  approved_by: string;
  /** The day until which the published version must be reviewed. */
  review_due: string;
  /** The published versions up to this one, oldest first. */
  history: PublishedVersion[];
};

/** A document as a Word file shows it. */
export type WordDocument = ExportDocument & { record: DocumentRecord; assets?: AssetImages };

/** The uploaded pictures that a document shows, by asset id. */
export type AssetImages = ReadonlyMap<string, Image>;
