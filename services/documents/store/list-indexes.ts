/** The indexes of documents that serve lists and counts. */

/**
 * Indexes of lists, by sort field; the first one also serves the counts. `status` comes before the sort key:
 * a list of several statuses merges one scan per status and reads only the rows that it returns.
 */
export const sortIndexes = {
  updated_at: { organization_id: 1, status: 1, updated_at: -1, _id: -1 },
  normalized_title: { organization_id: 1, status: 1, normalized_title: 1, _id: 1 },
  created_at: { organization_id: 1, status: 1, created_at: -1, _id: -1 },
  published_at: { organization_id: 1, status: 1, published_at: -1, _id: -1 },
  review_due_at: { organization_id: 1, status: 1, review_due_at: -1, _id: -1 },
} as const;

/** Indexes of lists and counts that are filtered by creator, editor, department or revised document. */
export const filterIndexes = {
  created_by: { organization_id: 1, created_by: 1, status: 1, updated_at: -1, _id: -1 },
  editor_id: { organization_id: 1, editor_id: 1, status: 1, updated_at: -1, _id: -1 },
  department: { organization_id: 1, department: 1, status: 1, updated_at: -1, _id: -1 },
  parent_doc_id: { organization_id: 1, parent_doc_id: 1, status: 1, updated_at: -1, _id: -1 },
} as const;
