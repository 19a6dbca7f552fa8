/** What can keep a document from being changed, published or found. */
import { problem } from '#libs/contract';

export const DocumentNotDraft = problem(
  'document_not_draft',
  400,
  'Only a draft can do this; revise the document to get one.',
);
export const DocumentNotPublished = problem(
  'document_not_published',
  400,
  'Only a published document can do this; publish it first.',
);
export const DocumentIsArchived = problem('document_archived', 400, 'An archived document is read-only.');
export const DocumentLocked = problem(
  'document_locked',
  400,
  'Your organization locks published documents: revise it to change it.',
);
export const VersionUnchanged = problem(
  'version_unchanged',
  400,
  'A revision needs another version than the document it was revised from.',
);
export const EditorNotMember = problem(
  'editor_not_member',
  400,
  'The editor must be a member of your organization.',
);
export const NodeHierarchy = problem(
  'node_hierarchy',
  400,
  'Sections have no parent, steps stand in a section, sub-steps in a step of the same document.',
);
export const UnknownNodes = problem(
  'unknown_nodes',
  400,
  'Every node must belong to the document; `errors` lists those that do not.',
);
export const TooManyNodes = problem('too_many_nodes', 400, 'A document holds at most 10,000 nodes.');
export const ContentTooLarge = problem(
  'content_too_large',
  400,
  'The content of a document is at most 32 MiB in all.',
);
export const PublishQuotaExhausted = problem(
  'publish_quota_exhausted',
  402,
  'The plan’s publish events are used up.',
);
