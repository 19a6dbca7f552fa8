/** Checks whether a document can be changed in its status. */
import type { Actor } from '#libs/store';
import {
  DocumentInApproval,
  DocumentIsArchived,
  DocumentLocked,
  DocumentNotDraft,
  VersionUnchanged,
} from './contract.ts';
import { isFrozen } from './rules/approval.ts';
import { repeatsVersion } from './rules/version.ts';
import type { DocumentStatus } from './shapes.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository, PublishSettings } from './store/document-repository.ts';

/** Throws `DocumentNotDraft` unless the document is a draft. */
export function assertDraft({ status }: { status: DocumentStatus }): void {
  if (status !== 'draft') throw DocumentNotDraft();
}

/** Throws `DocumentInApproval` if the document is a draft whose approval is pending or given. */
export function assertNotInApproval(document: DocumentRow): void {
  if (isFrozen(document)) throw DocumentInApproval();
}

/**
 * Throws `DocumentIsArchived` if the document is archived, `DocumentInApproval` if it is a draft in approval, or
 * `DocumentLocked` if it is published and has approvers or its organization locks published documents. Reads the
 * settings only for a published document.
 */
export async function assertEditable(
  document: DocumentRow,
  getSettings: () => Promise<PublishSettings>,
): Promise<void> {
  const { status, approver_ids = [] } = document;
  if (status === 'archived') throw DocumentIsArchived();
  assertNotInApproval(document);
  if (status !== 'published') return;
  if (approver_ids.length > 0) throw DocumentLocked();
  const { locksPublished, requiresApproval } = await getSettings();
  if (locksPublished || requiresApproval) throw DocumentLocked();
}

/**
 * Throws `VersionUnchanged` if a revision has the version of its parent and its organization locks published
 * documents. Reads nothing for a draft without a parent or without a version, because it cannot repeat one.
 */
export async function requireNewVersion(
  actor: Actor,
  { parent_doc_id, version }: Pick<DocumentRow, 'parent_doc_id' | 'version'>,
  repository: Pick<DocumentRepository, 'get' | 'getPublishSettings'>,
): Promise<void> {
  if (parent_doc_id === null || version === null) return;
  const parent = await repository.get(actor, parent_doc_id);
  if (!repeatsVersion(version, parent.version)) return;
  if ((await repository.getPublishSettings(actor)).locksPublished) throw VersionUnchanged();
}
