/** Creates the row of a new draft. */
import { newId } from '#libs/contract';
import { newVersionFields } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';

/** What a caller may set in a new draft. */
interface Fields {
  title: string;
  version?: string | null | undefined;
  department?: string | null | undefined;
  language?: string | null | undefined;
}

/** Creates an empty draft with these fields. */
export function createDraft(
  actor: { organization_id: string; user_id: string },
  at: Date,
  { title, version, department, language }: Fields,
): DocumentRow {
  const _id = newId();
  return {
    _id,
    organization_id: actor.organization_id,
    family_id: _id,
    created_by: actor.user_id,
    editor_id: null,
    parent_doc_id: null,
    title,
    version: version ?? null,
    department: department ?? null,
    language: language ?? null,
    status: 'draft',
    published_at: null,
    archived_at: null,
    ...newVersionFields,
    approver_ids: [],
    contributor_ids: [actor.user_id],
    created_at: at,
    updated_at: at,
    row_version: 1,
    share_epoch: 0,
    node_count: 0,
    content_bytes: 0,
  };
}
