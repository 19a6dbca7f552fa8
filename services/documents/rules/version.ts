/** The version rule: a revision draft gets another version label than the document it revises. */
import type { DocumentStatus } from '../shapes.ts';

/** A document as far as the rule looks at it. */
export interface Versioned {
  status: DocumentStatus;
  parent_doc_id: string | null;
}

/** The document whose version label a change must not repeat; null when there is none. */
export function versionToDifferFrom({ status, parent_doc_id }: Versioned, change: object): string | null {
  return status === 'draft' && 'version' in change ? parent_doc_id : null;
}

/** Whether the label is that of the original; an original without a label blocks nothing. */
export function repeatsVersion(version: string | null | undefined, original: string | null): boolean {
  return original !== null && version === original;
}
