/** What must hold before a document is changed: permission, and the version that the caller knows. */
import { PreconditionFailed, type Problem } from '#libs/contract';
import type { Transaction } from '#libs/store';
import type { DocumentRow } from './collections.ts';

/** What must hold before a document is changed. */
export interface Preconditions {
  /** Looks for what else must be there, before anything else is looked at; `NotFound`. */
  finds?(document: DocumentRow, tx: Transaction): Promise<void>;
  /** The problem that keeps this actor from changing this document. */
  authorize(document: DocumentRow): Problem | undefined;
  /** ETags of which one must be the document's. */
  ifMatch: readonly string[] | undefined;
}

/** Throws what `authorize` gives, or `PreconditionFailed` when none of the ETags is the document's. */
export function assertPreconditions({ authorize, ifMatch }: Preconditions, document: DocumentRow): void {
  const refused = authorize(document);
  if (refused) throw refused;
  if (ifMatch && !ifMatch.includes(etagOf(document))) throw PreconditionFailed();
}

/** The ETag of a document: it changes with any change of the document or its tree. */
export function etagOf(document: Pick<DocumentRow, 'row_version'>): string {
  return String(document.row_version);
}
