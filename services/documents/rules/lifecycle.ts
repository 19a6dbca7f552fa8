/** The life of a document: what each step makes of it, and what a revision keeps of its original. */

/** What a step changes. */
export interface Step {
  status: 'published' | 'archived';
  published_at?: Date;
  archived_at?: Date;
}

/** What publishing makes of a draft. */
export function publish(at: Date): Step {
  return { status: 'published', published_at: at };
}

/** What archiving makes of a published document; so does a revision that takes its place. */
export function archive(at: Date): Step {
  return { status: 'archived', archived_at: at };
}

/** What a revision has from its original. */
export interface RevisionFields {
  organization_id: string;
  family_id: string;
  created_by: string;
  editor_id: string | null;
  title: string;
  version: string | null;
  department: string | null;
  share_epoch: number;
  node_count: number;
  content_bytes: number;
}

/** What a revision has from its original: all that it says and whose it is, whoever revises it. */
export function revisionFields(original: RevisionFields): RevisionFields {
  const { organization_id, family_id, created_by, editor_id, title, version, department } = original;
  const { share_epoch, node_count, content_bytes } = original;
  return {
    organization_id,
    family_id,
    created_by,
    editor_id,
    title,
    version,
    department,
    share_epoch,
    node_count,
    content_bytes,
  };
}

/** The published versions of a family, the oldest first; none while the family has one document. */
export function historyOf<Member extends { _id: string; published_at: Date | null }>(
  family: readonly Member[],
): Member[] {
  if (family.length < 2) return [];
  return family
    .filter(({ published_at }) => published_at !== null)
    .sort((a, b) => Number(a.published_at) - Number(b.published_at) || (a._id < b._id ? -1 : 1));
}
