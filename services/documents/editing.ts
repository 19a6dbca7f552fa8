/** Editing: who may change a document, its fields, its nodes and its life, and in which state. */
import { Forbidden, type Problem } from '#libs/contract';
import { DocumentIsArchived, DocumentLocked } from './contract.ts';
import { type Asker, type Belongings, canEdit, canManage } from './rules/permission.ts';
import type { DocumentStatus } from './shapes.ts';

/** What keeps an actor from editing a document: `Forbidden`, or nothing. */
export function onlyEditors(actor: Asker): (document: Belongings) => Problem | undefined {
  return (document) =>
    canEdit(actor, document)
      ? undefined
      : Forbidden('Only the owner, the editor or an admin may change this document.');
}

/** What keeps an actor from doing this to a document's life, its editor or its events: `Forbidden`, or nothing. */
export function onlyManagers(actor: Asker, deed: string): (document: Belongings) => Problem | undefined {
  return (document) =>
    canManage(actor, document)
      ? undefined
      : Forbidden(`Only the owner or an admin may ${deed} this document.`);
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
