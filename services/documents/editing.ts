/** Checks whether a document can be changed in its status. */
import type { Actor } from '#libs/store';
import { DocumentIsArchived, DocumentLocked, DocumentNotDraft, VersionUnchanged } from './contract.ts';
import { repeatsVersion } from './rules/version.ts';
import type { DocumentStatus } from './shapes.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';

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
