/** Editing: who may change a document, its fields, its nodes and its life, and in which state. */
import { Forbidden, type Problem } from '#libs/contract';
import type { Actor, Transaction } from '#libs/store';
import { DocumentIsArchived, DocumentLocked, VersionUnchanged } from './contract.ts';
import { canEdit, canManage, type OwnedResource, type Requester } from './rules/permission.ts';
import { repeatsVersion } from './rules/version.ts';
import type { DocumentStatus } from './shapes.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';

/** What keeps an actor from editing a document: `Forbidden`, or nothing. */
export function requireEditor(actor: Requester): (document: OwnedResource) => Problem | undefined {
  return (document) =>
    canEdit(actor, document)
      ? undefined
      : Forbidden('Only the owner, the editor or an admin may change this document.');
}

/** What keeps an actor from doing this to a document's life, its editor or its events: `Forbidden`, or nothing. */
export function requireManager(
  actor: Requester,
  deed: string,
): (document: OwnedResource) => Problem | undefined {
  return (document) =>
    canManage(actor, document)
      ? undefined
      : Forbidden(`Only the owner or an admin may ${deed} this document.`);
}

/**
 * Throws when the document is read-only: `DocumentIsArchived`, or `DocumentLocked` when it is published and its
 * organization locks those. The setting is read only for a published document.
 */
export async function assertEditable(
  { status }: { status: DocumentStatus },
  locksPublished: () => Promise<boolean>,
): Promise<void> {
  if (status === 'archived') throw DocumentIsArchived();
  if (status === 'published' && (await locksPublished())) throw DocumentLocked();
}

/**
 * Throws `VersionUnchanged` when a revision has the version of its parent and its organization locks published
 * documents. A draft without a parent or without a version repeats no version, so nothing is read for it.
 */
export async function requireNewVersion(
  actor: Actor,
  { parent_doc_id, version }: Pick<DocumentRow, 'parent_doc_id' | 'version'>,
  library: Pick<DocumentRepository, 'find' | 'locksPublished'>,
  tx: Transaction,
): Promise<void> {
  if (parent_doc_id === null || version === null) return;
  const parent = await library.find(actor, parent_doc_id, tx);
  if (repeatsVersion(version, parent.version) && (await library.locksPublished(actor, tx)))
    throw VersionUnchanged();
}
