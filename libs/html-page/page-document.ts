/** What a page shows of a document. The services map their rows to it. */
import type { PageWords } from './words.ts';

/** A document without its nodes. */
export interface PageDocument {
  title: string;
  version: string | null;
  department: string | null;
  status: 'draft' | 'published' | 'archived';
  published_at: Date | null;
}

/** A section, step or sub-step. `content` is rich text as JSON text. */
export interface PageNode {
  _id: string;
  node_type: 'section' | 'step' | 'sub_step';
  title: string;
  content: string | null;
}

/** The children of each node in reading order, by its id; those of `null` are the sections. */
export type PageNodes = ReadonlyMap<string | null, readonly PageNode[]>;

/** The dates of approval and next review. */
export interface PageControl {
  approved_at: Date | null;
  review_due_at: Date | null;
}

/** Returns the word for a status that readers must know of; undefined for a published document. */
export function getStatusWord(
  { status }: Pick<PageDocument, 'status'>,
  words: PageWords,
): string | undefined {
  return status === 'published' ? undefined : words[status];
}
