/** Defines the problems that the document operations return. */
import { problem } from '#libs/contract';

export const DocumentNotDraft = problem(
  'document_not_draft',
  400,
  'The document is not a draft; revise it to create one.',
);
export const DocumentNotPublished = problem(
  'document_not_published',
  400,
  'The document is not published; publish it first.',
);
export const DocumentNotArchived = problem(
  'document_not_archived',
  400,
  'The document is not archived; only an archived version can be restored.',
);
export const DocumentIsArchived = problem(
  'document_archived',
  400,
  'The document is archived and read-only.',
);
export const DocumentLocked = problem(
  'document_locked',
  400,
  'The published document is locked, by a setting of your organization or because it has approvers; revise it to change it.',
);
export const VersionUnchanged = problem(
  'version_unchanged',
  400,
  'The version of a revision must differ from that of the document it revises.',
);
export const EditorNotMember = problem(
  'editor_not_member',
  400,
  'The editor must be a member of your organization.',
);
export const ReviewerNotMember = problem(
  'reviewer_not_member',
  400,
  'The reviewer must be a member of your organization.',
);
export const NodeHierarchy = problem(
  'node_hierarchy',
  400,
  'Sections have no parent; steps belong to a section, sub-steps to a step of the same document.',
);
export const UnknownNodes = problem(
  'unknown_nodes',
  400,
  'Some nodes do not belong to the document; `errors` lists them.',
);
export const AssetInvalid = problem(
  'asset_invalid',
  400,
  'The file is not a picture that can be stored; `reason` says why.',
);
export const UnknownAssets = problem(
  'unknown_assets',
  400,
  'Some pictures are not assets of your organization; `errors` lists them.',
);
export const ImportInvalid = problem(
  'import_invalid',
  400,
  'The file cannot be imported; `reason` says why.',
);
export const ImportTooLarge = problem(
  'import_too_large',
  400,
  'The text of the file is too large for one import; split the file.',
);
export const TooManyNodes = problem('too_many_nodes', 400, 'A document can have at most 10,000 nodes.');
export const ContentTooLarge = problem(
  'content_too_large',
  400,
  'The content of a document can be at most 32 MiB in total.',
);
export const DocumentInApproval = problem(
  'document_in_approval',
  400,
  'The draft is in approval and cannot be changed; withdraw the request first.',
);
export const ApprovalMissing = problem(
  'approval_missing',
  400,
  'The draft needs an approved request of all its approvers; submit it for approval.',
);
export const ApproverNotEligible = problem(
  'approver_not_eligible',
  400,
  'An approver must be a member who neither submits the draft nor has written it; `approvers` lists the others.',
);
export const ApprovalClosed = problem(
  'approval_closed',
  400,
  'The request was decided, withdrawn or published; get it to see its status.',
);
export const AlreadyDecided = problem(
  'already_decided',
  400,
  'You have decided on this request; a decision is final.',
);
export const ContentChanged = problem(
  'content_changed',
  400,
  'The words have another content hash; read the document again.',
);
export const PublishQuotaExhausted = problem(
  'publish_quota_exhausted',
  402,
  'The publish quota of the plan is used up.',
);
export const VersionsUnrelated = problem(
  'versions_unrelated',
  400,
  '`against` must be the ID of a version of the same document.',
);
export const DiffTooLarge = problem(
  'diff_too_large',
  400,
  'Two versions can be compared if their content is at most 32 MiB in total.',
);
