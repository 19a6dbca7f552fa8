/**
 * Decides what the audit log says about each event: one line for each action. `details` holds ids, titles of
 * documents, labels and settings; never a secret, name, email, external id or comment, and only the host of a URL.
 */
import type { EventType } from '#libs/contract';
import * as documents from '../../documents/events.ts';
import * as templates from '../../export/events.ts';
import * as links from '../../sharing/events.ts';
import * as webhooks from '../../webhook-delivery/events.ts';
import * as identity from '../events.ts';

/** Who can make a change. */
export const auditActorTypes = ['member', 'reader', 'operator', 'system'] as const;
export interface AuditActor {
  type: (typeof auditActorTypes)[number];
  id: string | null;
}

/** What an entry says besides who made the change, and when. */
export interface AuditSubject {
  target: { type: string; id: string };
  document_id?: string | undefined;
  details: Readonly<Record<string, unknown>>;
  /** The actor, if it is not the one of the event. */
  actor?: AuditActor;
}

/** The envelope of an event, as far as the log needs it. */
interface EventSource {
  organization_id: string;
  actor_id: string | null;
}

/** An event that the audit log consumes. `describe` returns `undefined` for an event without a change. */
export interface AuditedEvent {
  readonly type: EventType;
  describe(data: unknown, event: EventSource): AuditSubject | undefined;
}

/** What the log says about a document. */
interface Summary {
  id: string;
  title: string;
  version: string | null;
  content_hash: string | null;
}

/** The events of the audit log, in the order of the reference. */
export const auditedEvents: readonly AuditedEvent[] = [
  audit(documents.DocumentPublished, (data) => aboutDocument(data)),
  audit(documents.DocumentRevised, (data) => aboutDocument(data)),
  audit(documents.DocumentUpdated, (data) => aboutDocument(data)),
  audit(documents.DocumentEdited, (data) => aboutDocument(data)),
  audit(documents.DocumentArchived, (data) => aboutDocument(data)),
  audit(documents.DocumentAssigned, (data) => aboutDocument(data, { editor_id: data.editor_id })),
  audit(documents.DocumentUnassigned, (data) =>
    aboutDocument(data, { before: { editor_id: data.before }, after: { editor_id: null } }),
  ),
  audit(documents.DocumentDeleted, (data) => aboutDocument(data)),
  audit(documents.DocumentApproversUpdated, (data) =>
    aboutDocument(data, { before: data.before, after: data.document.approver_ids }),
  ),
  audit(documents.DocumentReviewDue, (data) => aboutDocument(data, { days_left: data.days_left })),
  audit(documents.DocumentReviewed, ({ document }) => aboutDocument({ document }, toReviewDetails(document))),
  audit(documents.DocumentReviewUpdated, ({ document, before }) =>
    aboutDocument({ document }, { ...toReviewDetails(document), ...(before && { before }) }),
  ),
  audit(documents.ApprovalRequested, aboutApproval),
  audit(documents.ApprovalDecided, ({ document_id, approval_id, content_hash, decision }) => ({
    ...{ target: { type: 'approval', id: approval_id }, document_id },
    details: { content_hash, decision },
  })),
  audit(documents.ApprovalApproved, aboutApproval),
  audit(documents.ApprovalRejected, aboutApproval),
  audit(documents.ApprovalWithdrawn, aboutApproval),
  audit(identity.MemberInvited, ({ invitation: { id, role, department } }, { actor_id }) => ({
    ...{ target: { type: 'invitation', id }, details: { role, department } },
    ...(actor_id === null && byOperator),
  })),
  audit(identity.MemberJoined, aboutMember),
  audit(identity.MemberUpdated, ({ member_id, ...details }) => ({
    ...{ target: { type: 'member', id: member_id }, details },
  })),
  audit(identity.MemberRemoved, aboutMember),
  audit(identity.DepartmentRenamed, ({ department_id, ...details }) => ({
    ...{ target: { type: 'department', id: department_id }, details },
  })),
  audit(identity.OrganizationUpdated, (details, { organization_id }) => ({
    ...{ target: { type: 'organization', id: organization_id }, details },
  })),
  audit(identity.OrganizationPlanChanged, (details, { organization_id }) => ({
    ...{ target: { type: 'organization', id: organization_id }, details, ...byOperator },
  })),
  audit(identity.ApiKeyCreated, ({ key_id, ...details }) => ({
    ...{ target: { type: 'api_key', id: key_id }, details },
  })),
  audit(identity.ApiKeyRevoked, ({ member_id, key_ids }) => ({
    ...{ target: { type: 'api_key', id: key_ids[0] ?? member_id }, details: { member_id, key_ids } },
  })),
  audit(links.AcknowledgementRequested, aboutRequest),
  audit(links.AcknowledgementMade, ({ acknowledgement, document }) => ({
    target: { type: 'acknowledgement', id: acknowledgement.id },
    document_id: document.id,
    details: {
      ...{ request_id: acknowledgement.request_id, content_hash: acknowledgement.content_hash },
    },
    actor: { type: acknowledgement.person.kind, id: acknowledgement.person.id },
  })),
  audit(links.AcknowledgementCompleted, aboutRequest),
  audit(links.AcknowledgementOverdue, aboutRequest),
  audit(links.AcknowledgementRequestUpdated, aboutRequest),
  audit(links.AcknowledgementRequestClosed, aboutRequest),
  audit(links.AcknowledgementReaderDeleted, ({ request, reader_id }) => ({
    ...aboutRequest({ request }),
    target: { type: 'reader', id: reader_id },
  })),
  audit(links.ShareTokenCreated, aboutLink),
  audit(links.ShareTokenUpdated, aboutLink),
  audit(links.ShareTokenDeleted, aboutLink),
  audit(templates.LibraryExported, (details, { organization_id }) => ({
    ...{ target: { type: 'library', id: organization_id }, details },
  })),
  audit(templates.TemplateCreated, aboutTemplate),
  audit(templates.TemplateDeleted, aboutTemplate),
  audit(webhooks.WebhookCreated, aboutWebhook),
  audit(webhooks.WebhookUpdated, aboutWebhook),
  audit(webhooks.WebhookRemoved, aboutWebhook),
  audit(webhooks.WebhookSecretRotated, aboutWebhook),
  audit(webhooks.WebhookDisabled, ({ webhook, reason }) => aboutWebhook({ webhook_id: webhook.id, reason })),
];

/** The events that report no change of the organization. */
export const unauditedEvents: readonly EventType[] = [identity.ApiKeyUsed, webhooks.WebhookExhausted];

/** The actions of the audit log: the names of its events. */
export const auditActions = auditedEvents.map(({ type }) => type.name);

/** Returns the actor of an event: its member, or the system. */
export function toAuditActor({ actor_id }: Pick<EventSource, 'actor_id'>): AuditActor {
  return { type: actor_id === null ? 'system' : 'member', id: actor_id };
}

const byOperator = { actor: { type: 'operator', id: null } } as const;

function audit<Data>(
  type: EventType<Data>,
  describe: (data: Data, event: EventSource) => AuditSubject | undefined,
): AuditedEvent {
  // the subscriber has checked that the data matches the schema of the type
  return { type, describe: (data, event) => describe(data as Data, event) };
}

function aboutDocument(
  { document, refired }: { document: Summary; refired?: true | undefined },
  more: Readonly<Record<string, unknown>> = {},
): AuditSubject | undefined {
  // the event was sent to webhooks again; the document did not change
  if (refired) return undefined;
  const { id } = document;
  const details = { ...toDocumentDetails(document), ...more };
  return { target: { type: 'document', id }, document_id: id, details };
}

function toDocumentDetails({ title, version, content_hash }: Summary) {
  return { title, version, content_hash };
}

/** The reviewer, the interval and the times of the last and the next review. */
function toReviewDetails({ review }: { review: unknown }) {
  return { review };
}

function aboutApproval({
  document,
  approval,
}: {
  document: Summary;
  approval: {
    id: string;
    content_hash: string;
    submitted_by: string;
    approvers: readonly { member_id: string }[];
  };
}): AuditSubject {
  const { id, content_hash, submitted_by } = approval;
  const approver_ids = approval.approvers.map(({ member_id }) => member_id);
  return {
    target: { type: 'approval', id },
    document_id: document.id,
    details: { ...toDocumentDetails(document), content_hash, submitted_by, approver_ids },
  };
}

function aboutMember({
  member: { id, role, department },
}: {
  member: { id: string; role: string; department: string | null };
}): AuditSubject {
  return { target: { type: 'member', id }, details: { role, department } };
}

function aboutLink({ document_id, ...details }: { document_id: string }): AuditSubject {
  return { target: { type: 'share_token', id: document_id }, document_id, details };
}

/** The audience has ids and department names only. */
function aboutRequest({
  request: { id, document_id, audience, due_days, status },
  before,
}: {
  request: { id: string; document_id: string; audience: unknown; due_days: number; status: string };
  before?: object | undefined;
}): AuditSubject {
  return {
    target: { type: 'acknowledgement_request', id },
    document_id,
    details: { audience, due_days, status, ...(before && { before }) },
  };
}

function aboutTemplate({ template_id, ...details }: { template_id: string }): AuditSubject {
  return { target: { type: 'template', id: template_id }, details };
}

function aboutWebhook({ webhook_id, ...details }: { webhook_id: string } & Record<string, unknown>) {
  return { target: { type: 'webhook', id: webhook_id }, details };
}
