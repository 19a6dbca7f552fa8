/** Checks the preconditions of a request to a document: permission and the ETag that the caller sent. */
import { PreconditionFailed } from '#libs/contract';
import type { DocumentRow } from './collections.ts';

/** The conditions that must hold before a document is changed or shown. */
export interface Preconditions {
  /** Throws if the actor may not do this with the document. If undefined, every reader may. */
  authorize?: (document: DocumentRow) => void;
  /** The ETags of `If-Match`; one of them must be that of the document. If undefined, no ETag is checked. */
  ifMatch?: readonly string[] | undefined;
}

/** Throws what `authorize` throws, or `PreconditionFailed` if no ETag matches. */
export function assertPreconditions({ authorize, ifMatch }: Preconditions, document: DocumentRow): void {
  authorize?.(document);
  if (ifMatch && !ifMatch.includes(toEtag(document))) throw PreconditionFailed();
}

/** Returns the ETag of a document. It changes with every change of the document or its tree. */
export function toEtag(document: Pick<DocumentRow, 'row_version'>): string {
  return String(document.row_version);
}
