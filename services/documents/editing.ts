/** Checks whether an actor may change a document and whether the document can be changed in its status. */
import { Forbidden, type Problem } from '#libs/contract';
import type { Actor } from '#libs/store';
import { DocumentIsArchived, DocumentLocked, DocumentNotDraft, VersionUnchanged } from './contract.ts';
import { canEdit, canManage, type OwnedResource, type Principal } from './rules/permission.ts';
import { repeatsVersion } from './rules/version.ts';
import type { DocumentStatus } from './shapes.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';

/** Returns a check that gives `Forbidden` if the actor may not edit the document. */
export function requireEditor(actor: Principal): (document: OwnedResource) => Problem | undefined {
  return (document) =>
    canEdit(actor, document)
      ? undefined
      : Forbidden('Only the owner, the editor or an admin may change this document.');
}

/**
 * Returns a check that gives `Forbidden` if the actor may not manage the document: its lifecycle, editor or
 * webhooks. `action` is a verb phrase for the detail, e.g. `publish`.
 */
export function requireManager(
  actor: Principal,
  action: string,
): (document: OwnedResource) => Problem | undefined {
  return (document) =>
    canManage(actor, document)
      ? undefined
      : Forbidden(`Only the owner or an admin may ${action} this document.`);
}

/** Throws `DocumentNotDraft` unless the document is a draft. */
export function assertDraft({ status }: { status: DocumentStatus }): void {
  if (status !== 'draft') throw DocumentNotDraft();
}

/**
 * Throws `DocumentIsArchived` if the document is archived, or `DocumentLocked` if it is published and its
 * organization locks published documents. Reads that setting only for a published document.
 */
export async function assertEditable(
  { status }: { status: DocumentStatus },
  locksPublished: () => Promise<boolean>,
): Promise<void> {
  if (status === 'archived') throw DocumentIsArchived();
  if (status === 'published' && (await locksPublished())) throw DocumentLocked();
}

/**
 * Throws `VersionUnchanged` if a revision has the version of its parent and its organization locks published
 * documents. Reads nothing for a draft without a parent or without a version, because it cannot repeat one.
 */
export async function requireNewVersion(
  actor: Actor,
  { parent_doc_id, version }: Pick<DocumentRow, 'parent_doc_id' | 'version'>,
  repository: Pick<DocumentRepository, 'get' | 'locksPublished'>,
): Promise<void> {
  if (parent_doc_id === null || version === null) return;
  const parent = await repository.get(actor, parent_doc_id);
  if (repeatsVersion(version, parent.version) && (await repository.locksPublished(actor)))
    throw VersionUnchanged();
}
