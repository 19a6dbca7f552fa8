/** Notices: who is told what about an event, and in which words. */

/** A document as far as notices need it. */
export interface Noticed {
  id: string;
  title: string;
  created_by: string;
  editor_id: string | null;
}

/** What is put into somebody's inbox. */
export interface Notice {
  type: string;
  title: string;
  data: Record<string, unknown>;
}

const deeds: Record<string, string> = {
  'document.published': 'was published',
  'document.revised': 'was published in a new version',
  'document.archived': 'was archived',
};

/** Owner and editor of a document, without whoever did it. */
export function concerned(document: Noticed, actorId: string | null): string[] {
  const both = [document.created_by, ...(document.editor_id === null ? [] : [document.editor_id])];
  return [...new Set(both)].filter((userId) => userId !== actorId);
}

/** The notice that something became of a document. */
export function noticeOf(type: string, { id, title }: Noticed): Notice {
  return {
    type,
    title: `“${title}” ${deeds[type] ?? 'changed'}`,
    data: { document_id: id, document_title: title },
  };
}

/** The notice that a document was assigned to somebody. */
export function assignment({ id, title }: Noticed): Notice {
  const data = { document_id: id, document_title: title };
  return { type: 'document.assigned', title: `You are the editor of “${title}”`, data };
}

/** The notice that somebody joined. */
export function joining(member: { id: string; name: string }): Notice {
  const data = { member_id: member.id, member_name: member.name };
  return { type: 'member.joined', title: `${member.name} joined the organization`, data };
}
