/** Notices: who is told what about an event, and in which words. */

/** A document as far as notices need it. */
export interface Noticed {
  id: string;
  title: string;
  created_by: string;
  editor_id: string | null;
}

/** What is put into somebody's inbox. */
export interface Notification {
  type: string;
  title: string;
  data: Record<string, unknown>;
  /** The notice that stands for this one and an unread one of these data before it, where they add up. */
  added?(earlier: Record<string, unknown>): Notification;
}

const deeds: Record<string, string> = {
  'document.published': 'was published',
  'document.revised': 'was published in a new version',
  'document.archived': 'was archived',
};

/** Owner and editor of a document, without whoever did it. */
export function recipients(document: Noticed, actorId: string | null): string[] {
  const both = [document.created_by, ...(document.editor_id === null ? [] : [document.editor_id])];
  return [...new Set(both)].filter((userId) => userId !== actorId);
}

/** The notice that something became of a document. */
export function toNotification(type: string, { id, title }: Noticed): Notification {
  return {
    type,
    title: `“${title}” ${deeds[type] ?? 'changed'}`,
    data: { document_id: id, document_title: title },
  };
}

/** The notice that a document was assigned to somebody. */
export function documentAssigned({ id, title }: Noticed): Notification {
  const data = { document_id: id, document_title: title };
  return { type: 'document.assigned', title: `You are the editor of “${title}”`, data };
}

/** The notice that somebody joined. */
export function memberJoined(member: { id: string; name: string }): Notification {
  const data = { member_id: member.id, member_name: member.name };
  return { type: 'member.joined', title: `${member.name} joined the organization`, data };
}

/** A webhook as far as notices need it. */
export interface NoticedWebhook {
  id: string;
  name: string;
}

/** The notice that deliveries to a webhook failed; several add up. */
export function webhookExhausted(
  webhook: NoticedWebhook,
  failed: number,
  last: { event_type: string; error: string | null },
): Notification {
  const some = failed === 1 ? 'A delivery' : `${failed} deliveries`;
  return {
    type: 'webhook.exhausted',
    title: `${some} to the webhook “${webhook.name}” failed`,
    data: {
      webhook_id: webhook.id,
      webhook_name: webhook.name,
      failed,
      last_event_type: last.event_type,
      last_error: last.error,
    },
    added: (earlier) => webhookExhausted(webhook, failed + (Number(earlier.failed) || 0), last),
  };
}

const causes = {
  gone: 'its receiver answered that it is gone (410)',
  failing: 'all deliveries failed for five days',
};

/** The notice that a webhook was switched off. */
export function webhookDisabled({ id, name }: NoticedWebhook, reason: keyof typeof causes): Notification {
  const data = { webhook_id: id, webhook_name: name, reason };
  return {
    type: 'webhook.disabled',
    title: `The webhook “${name}” was switched off: ${causes[reason]}`,
    data,
  };
}
