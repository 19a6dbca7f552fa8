/** Editing: who may change the fields and nodes of a document, and in which state. */
import { Forbidden, type Problem } from '#libs/contract';
import { DocumentIsArchived, DocumentLocked } from './contract.ts';
import { type Asker, type Belongings, canEdit } from './rules/permission.ts';
import type { DocumentStatus } from './shapes.ts';

/** What keeps an actor from editing a document: `Forbidden`, or nothing. */
export function onlyEditors(actor: Asker): (document: Belongings) => Problem | undefined {
  return (document) =>
    canEdit(actor, document)
      ? undefined
      : Forbidden('Only the owner, the editor or an admin may change this document.');
}

/**
 * Throws when the document is read-only: `DocumentIsArchived`, or `DocumentLocked` when it is published and its
 * organization locks those. The setting is read only for a published document.
 */
export async function openToEdits(
  { status }: { status: DocumentStatus },
  locksPublished: () => Promise<boolean>,
): Promise<void> {
  if (status === 'archived') throw DocumentIsArchived();
  if (status === 'published' && (await locksPublished())) throw DocumentLocked();
}
