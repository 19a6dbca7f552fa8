/** Notifications: who is notified about an event, and with which text. */

/** What notifications need of a document. */
export interface DocumentInfo {
  id: string;
  title: string;
  created_by: string;
  editor_id: string | null;
}

/** A notification before it is stored for its recipients. */
export interface Notification {
  type: string;
  title: string;
  data: Record<string, unknown>;
  /** Combines it with the data of an unread notification about the same subject, if its type allows. */
  merge?(earlier: Record<string, unknown>): Notification;
}

const actions: Record<string, string> = {
  'document.published': 'was published',
  'document.revised': 'was published in a new version',
  'document.archived': 'was archived',
};

/** The users to notify about a document: its creator and its editor, without the user who acted. */
export function recipients(document: DocumentInfo, actorId: string | null): string[] {
  const userIds = [document.created_by, ...(document.editor_id === null ? [] : [document.editor_id])];
  return listOthers(userIds, actorId);
}

/** The users to notify about a decided or withdrawn request: its submitter and owner, without the user who acted. */
export function approvalRecipients(
  { created_by }: DocumentInfo,
  { submitted_by }: ApprovalInfo,
  actorId: string | null,
): string[] {
  return listOthers([submitted_by, created_by], actorId);
}

function listOthers(userIds: readonly string[], actorId: string | null): string[] {
  return [...new Set(userIds)].filter((userId) => userId !== actorId);
}

/** Notification that a document was published, revised or archived. */
export function toNotification(type: string, { id, title }: DocumentInfo): Notification {
  return {
    type,
    title: `“${title}” ${actions[type] ?? 'changed'}`,
    data: { document_id: id, document_title: title },
  };
}

/** Notification that the recipient became the editor of a document. */
export function documentAssigned({ id, title }: DocumentInfo): Notification {
  const data = { document_id: id, document_title: title };
  return { type: 'document.assigned', title: `You are now the editor of “${title}”`, data };
}

/** What a notification about a review needs of its document. */
export interface ReviewedDocument extends DocumentInfo {
  review: { reviewer_id: string | null; due_at: string | null } | null;
}

/** Notification that the review of a document is due on a day (UTC), or now. */
export function reviewDue({ id, title, review }: ReviewedDocument, days_left: number): Notification {
  const day = days_left > 0 && review?.due_at?.slice(0, 10);
  return {
    type: 'document.review_due',
    title: `The review of “${title}” is due${day ? ` on ${day}` : ''}`,
    data: { document_id: id, document_title: title, days_left },
  };
}

/** What notifications need of a request for approval. */
export interface ApprovalInfo {
  id: string;
  submitted_by: string;
  approvers: readonly { member_id: string }[];
}

const toApprovalData = ({ id, title }: DocumentInfo, approval: ApprovalInfo) => ({
  document_id: id,
  document_title: title,
  approval_id: approval.id,
});

/** Notification that the recipient is asked to approve a draft. */
export function approvalRequested(document: DocumentInfo, approval: ApprovalInfo): Notification {
  return {
    type: 'approval.requested',
    title: `“${document.title}” awaits your approval`,
    data: toApprovalData(document, approval),
  };
}

const approvalChanges: Record<string, (title: string) => string> = {
  'approval.approved': (title) => `“${title}” was approved`,
  'approval.rejected': (title) => `“${title}” was rejected`,
  'approval.withdrawn': (title) => `The request to approve “${title}” was withdrawn`,
};

/** Notification that a request for approval was decided or withdrawn. */
export function approvalChanged(type: string, document: DocumentInfo, approval: ApprovalInfo): Notification {
  return {
    type,
    title: approvalChanges[type]?.(document.title) ?? `The approval of “${document.title}” changed`,
    data: toApprovalData(document, approval),
  };
}

/** What notifications need of a request for acknowledgement. */
export interface AcknowledgementInfo {
  id: string;
  audience: { everyone: boolean; departments: readonly string[]; member_ids: readonly string[] };
}

const toRequestData = ({ id, title }: DocumentInfo, request: AcknowledgementInfo) => ({
  document_id: id,
  document_title: title,
  acknowledgement_request_id: request.id,
});

/** Notification that the recipient is asked to read and acknowledge a document. */
export function acknowledgementRequested(document: DocumentInfo, request: AcknowledgementInfo): Notification {
  return {
    type: 'acknowledgement.requested',
    title: `Please read and acknowledge “${document.title}”`,
    data: toRequestData(document, request),
  };
}

/** Notification that people have not acknowledged a document in time. */
export function acknowledgementOverdue(document: DocumentInfo, request: AcknowledgementInfo): Notification {
  return {
    type: 'acknowledgement.overdue',
    title: `Not everybody has acknowledged “${document.title}” in time`,
    data: toRequestData(document, request),
  };
}

/** Notification that a member joined. */
export function memberJoined(member: { id: string; name: string }): Notification {
  const data = { member_id: member.id, member_name: member.name };
  return { type: 'member.joined', title: `${member.name} joined the organization`, data };
}

/** What notifications need of a webhook. */
export interface WebhookInfo {
  id: string;
  name: string;
}

/** Notification that deliveries to a webhook failed. Counts of unread notifications are added up. */
export function webhookExhausted(
  webhook: WebhookInfo,
  failed: number,
  last: { event_type: string; error: string | null },
): Notification {
  const deliveries = failed === 1 ? 'A delivery' : `${failed} deliveries`;
  return {
    type: 'webhook.exhausted',
    title: `${deliveries} to the webhook “${webhook.name}” failed`,
    data: {
      webhook_id: webhook.id,
      webhook_name: webhook.name,
      failed,
      last_event_type: last.event_type,
      last_error: last.error,
    },
    merge: (earlier) => webhookExhausted(webhook, failed + (Number(earlier.failed) || 0), last),
  };
}

const causes = {
  gone: 'its receiver responded with 410 Gone',
  failing: 'all deliveries failed for five days',
};

/** Notification that a webhook was disabled. */
export function webhookDisabled({ id, name }: WebhookInfo, reason: keyof typeof causes): Notification {
  const data = { webhook_id: id, webhook_name: name, reason };
  return {
    type: 'webhook.disabled',
    title: `The webhook “${name}” was disabled: ${causes[reason]}`,
    data,
  };
}
