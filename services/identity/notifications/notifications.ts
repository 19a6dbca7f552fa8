/** Notifications: created from events, and read by members in their inboxes. */
import { z } from 'zod';
import { type Envelope, id, NotFound, parseCursor } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  ApprovalApproved,
  ApprovalRejected,
  ApprovalRequested,
  ApprovalWithdrawn,
  DocumentArchived,
  DocumentAssigned,
  DocumentPublished,
  DocumentReviewDue,
  DocumentRevised,
} from '../../documents/events.ts';
import { AcknowledgementOverdue, AcknowledgementRequested, isEmptyAudience } from '../../sharing/events.ts';
import { WebhookDisabled, WebhookExhausted } from '../../webhook-delivery/events.ts';
import {
  countInbox,
  deleteInboxItem,
  listInbox,
  MemberJoined,
  markInboxItemRead,
  markInboxRead,
} from '../contract.ts';
import {
  type AcknowledgementInfo,
  type ApprovalInfo,
  acknowledgementOverdue,
  acknowledgementRequested,
  approvalChanged,
  approvalRecipients,
  approvalRequested,
  type DocumentInfo,
  documentAssigned,
  memberJoined,
  type Notification,
  type ReviewedDocument,
  recipients,
  reviewDue,
  toNotification,
  webhookDisabled,
  webhookExhausted,
} from '../rules/notifications.ts';
import type { InboxItem } from '../shapes.ts';
import type { NotificationRow } from '../store/collections.ts';
import type { NotificationRepository } from '../store/notifications.ts';

/** What notifications need. */
export interface NotificationOptions {
  store: Pick<Store, 'processOnce' | 'respond'>;
  notifications: NotificationRepository;
  now: () => Date;
}

const position = z.tuple([id]);

/** Handlers of the operations on the caller's inbox. */
export function notificationHandlers({ store, notifications, now }: NotificationOptions) {
  return [
    handle(listInbox, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await notifications.list(actor, {
        unread: query.unread ?? false,
        before,
        limit: query.limit + 1,
      });
      return toPage({ found, limit: query.limit, toItem: toInboxItem, position: ({ _id }) => [_id] });
    }),

    handle(countInbox, ({ actor }) => notifications.count(actor)),

    handle(markInboxItemRead, ({ actor, params }) =>
      store.respond(actor, async (within) => {
        const row = await notifications.markRead(within, params.item_id, now());
        if (!row) throw NotFound();
        return toInboxItem(row);
      }),
    ),

    handle(markInboxRead, ({ actor }) =>
      store.respond(actor, async (within) => {
        await notifications.markAllRead(within, now());
        return undefined;
      }),
    ),

    handle(deleteInboxItem, async ({ actor, params }) => {
      if (!(await notifications.delete(actor, params.item_id))) throw NotFound();
      return undefined;
    }),
  ];
}

/** Subscribes to the events that members are notified about. Each event notifies only once. */
export function notifyMembers({
  store,
  notifications,
}: Pick<NotificationOptions, 'store' | 'notifications'>): Subscriber[] {
  const notifyAboutDocument = (event: Envelope<{ document: DocumentInfo; refired?: true | undefined }>) => {
    const { document, refired } = event.data;
    // a refired event updates other systems; the document itself has not changed
    if (refired) return Promise.resolve();
    return notify(event, recipients(document, event.actor_id), toNotification(event.type, document));
  };
  const notifyAboutApproval = (event: Envelope<{ document: DocumentInfo; approval: ApprovalInfo }>) => {
    const { document, approval } = event.data;
    const { organization_id, actor_id } = event;
    const at = new Date(event.occurred_at);
    return store.processOnce(event, async (tx) => {
      // nobody has to decide any more
      await notifications.markRequestRead({ organization_id, tx }, approval, at);
      const userIds = approvalRecipients(document, approval, actor_id);
      const notification = approvalChanged(event.type, document, approval);
      await notifications.add(organization_id, userIds, notification, at, tx);
    });
  };
  return [
    on(ApprovalRequested, (event) => {
      const { document, approval } = event.data;
      const approverIds = approval.approvers.map(({ member_id }) => member_id);
      return notify(event, approverIds, approvalRequested(document, approval));
    }),
    on(ApprovalApproved, notifyAboutApproval),
    on(ApprovalRejected, notifyAboutApproval),
    on(ApprovalWithdrawn, notifyAboutApproval),
    on(AcknowledgementRequested, (event) => {
      const { document, request } = event.data;
      return notifyAsked(event, request, acknowledgementRequested(document, request));
    }),
    on(AcknowledgementOverdue, (event) => {
      const { document, request } = event.data;
      return notify(event, [document.created_by], acknowledgementOverdue(document, request));
    }),
    on(DocumentPublished, notifyAboutDocument),
    on(DocumentRevised, notifyAboutDocument),
    on(DocumentArchived, notifyAboutDocument),
    on(DocumentAssigned, (event) => {
      const { document, editor_id } = event.data;
      return notify(event, editor_id === event.actor_id ? [] : [editor_id], documentAssigned(document));
    }),
    on(DocumentReviewDue, (event) => {
      const { document, days_left } = event.data;
      return notifyReviewer(event, document, reviewDue(document, days_left));
    }),
    on(MemberJoined, async (event) => {
      const { member } = event.data;
      const admins = await notifications.listAdmins(event.organization_id);
      await notify(
        event,
        admins.filter((userId) => userId !== member.id),
        memberJoined(member),
      );
    }),
    on(WebhookExhausted, (event) => {
      const { webhook, failed, last } = event.data;
      return notifyCreator(event, webhook.created_by, webhookExhausted(webhook, failed, last));
    }),
    on(WebhookDisabled, (event) => {
      const { webhook, reason } = event.data;
      return notifyCreator(event, webhook.created_by, webhookDisabled(webhook, reason));
    }),
  ];

  /** Notifies the members whom a request asks, without the user who acted. */
  function notifyAsked(
    event: Envelope,
    { audience }: AcknowledgementInfo,
    notification: Notification,
  ): Promise<unknown> {
    if (isEmptyAudience(audience)) return Promise.resolve();
    const { organization_id, organization_version, occurred_at, actor_id } = event;
    return store.processOnce(event, async (tx) => {
      const asked = await notifications.listAsked(organization_id, audience, organization_version, tx);
      const others = asked.filter((userId) => userId !== actor_id);
      await notifications.add(organization_id, others, notification, new Date(occurred_at), tx);
    });
  }

  /** Notifies the creator of a resource, or the admins if the creator is no longer a member. */
  function notifyCreator(event: Envelope, userId: string, notification: Notification): Promise<unknown> {
    const { organization_id, occurred_at } = event;
    const at = new Date(occurred_at);
    return store.processOnce(event, async (tx) => {
      if ((await notifications.add(organization_id, [userId], notification, at, tx)) > 0) return;
      const admins = await notifications.listAdmins(organization_id);
      await notifications.add(organization_id, admins, notification, at, tx);
    });
  }

  /** Notifies the reviewer of a document, or its owner if there is none or the reviewer has left. */
  function notifyReviewer(
    event: Envelope,
    { review, created_by }: ReviewedDocument,
    notification: Notification,
  ): Promise<unknown> {
    const { organization_id, occurred_at } = event;
    return store.processOnce(event, async (tx) => {
      for (const userId of [review?.reviewer_id, created_by]) {
        if (!userId) continue;
        const at = new Date(occurred_at);
        if ((await notifications.add(organization_id, [userId], notification, at, tx)) > 0) return;
      }
    });
  }

  function notify(event: Envelope, userIds: readonly string[], notification: Notification): Promise<unknown> {
    // common case: most documents are published by their owner, and without recipients no transaction is
    // needed
    if (userIds.length === 0) return Promise.resolve();
    return store.processOnce(event, async (tx) => {
      await notifications.add(event.organization_id, userIds, notification, new Date(event.occurred_at), tx);
    });
  }
}

/** Maps a notification to an item of the inbox. */
function toInboxItem(row: NotificationRow): z.infer<typeof InboxItem> {
  const { _id, type, title, data, read_at, created_at } = row;
  return {
    id: _id,
    type,
    title,
    data,
    read_at: read_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}
