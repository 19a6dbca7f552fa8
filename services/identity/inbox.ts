/** The inbox: hears what happened and tells those whom it concerns, who read it here. */
import { z } from 'zod';
import { type Envelope, id, NotFound, parseCursor } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  DocumentArchived,
  DocumentAssigned,
  DocumentPublished,
  DocumentRevised,
} from '../documents/events.ts';
import { WebhookDisabled, WebhookExhausted } from '../webhook-delivery/events.ts';
import {
  countInbox,
  deleteInboxItem,
  listInbox,
  MemberJoined,
  markInboxItemRead,
  markInboxRead,
} from './contract.ts';
import { toInboxItem } from './presenters.ts';
import {
  documentAssigned,
  memberJoined,
  type Noticed,
  type Notification,
  recipients,
  toNotification,
  webhookDisabled,
  webhookExhausted,
} from './rules/notifications.ts';
import type { Inboxes } from './store/inbox.ts';

/** What the inbox needs. */
export interface Inbox {
  store: Pick<Store, 'processOnce' | 'respond'>;
  inboxes: Inboxes;
  now: () => Date;
}

const position = z.tuple([id]);

/** The operations on one's own inbox. */
export function inbox({ store, inboxes, now }: Inbox) {
  return [
    handle(listInbox, async ({ actor, query }) => {
      const [before] = parseCursor(query.cursor, position) ?? [];
      const found = await inboxes.list(actor, {
        unread: query.unread ?? false,
        before,
        limit: query.limit + 1,
      });
      return toPage({ found, limit: query.limit, toItem: toInboxItem, position: ({ _id }) => [_id] });
    }),

    handle(countInbox, ({ actor }) => inboxes.count(actor)),

    handle(markInboxItemRead, ({ actor, params }) =>
      store.respond(actor, async (within) => {
        const row = await inboxes.read(within, params.item_id, now());
        if (!row) throw NotFound();
        return toInboxItem(row);
      }),
    ),

    handle(markInboxRead, ({ actor }) =>
      store.respond(actor, async (within) => {
        await inboxes.readAll(within, now());
        return undefined;
      }),
    ),

    handle(deleteInboxItem, async ({ actor, params }) => {
      if (!(await inboxes.delete(actor, params.item_id))) throw NotFound();
      return undefined;
    }),
  ];
}

/** What the inbox hears; each event is told once, however often it is delivered. */
export function notifyMembers({ store, inboxes }: Pick<Inbox, 'store' | 'inboxes'>): Subscriber[] {
  const aboutDocument = (event: Envelope<{ document: Noticed; refired?: true | undefined }>) => {
    const { document, refired } = event.data;
    // sent again for other systems: for people nothing happened
    if (refired) return Promise.resolve();
    return tell(event, recipients(document, event.actor_id), toNotification(event.type, document));
  };
  return [
    on(DocumentPublished, aboutDocument),
    on(DocumentRevised, aboutDocument),
    on(DocumentArchived, aboutDocument),
    on(DocumentAssigned, (event) => {
      const { document, editor_id } = event.data;
      return tell(event, editor_id === event.actor_id ? [] : [editor_id], documentAssigned(document));
    }),
    on(MemberJoined, async (event) => {
      const { member } = event.data;
      const admins = await inboxes.admins(event.organization_id);
      await tell(
        event,
        admins.filter((userId) => userId !== member.id),
        memberJoined(member),
      );
    }),
    on(WebhookExhausted, (event) => {
      const { webhook, failed, last } = event.data;
      return tellMaker(event, webhook.created_by, webhookExhausted(webhook, failed, last));
    }),
    on(WebhookDisabled, (event) => {
      const { webhook, reason } = event.data;
      return tellMaker(event, webhook.created_by, webhookDisabled(webhook, reason));
    }),
  ];

  /** Tells who made a thing, or the admins when its maker is a member no more. */
  function tellMaker(event: Envelope, userId: string, notice: Notification): Promise<unknown> {
    const { organization_id, occurred_at } = event;
    const at = new Date(occurred_at);
    return store.processOnce(event, async (tx) => {
      if ((await inboxes.tell(organization_id, [userId], notice, at, tx)) > 0) return;
      await inboxes.tell(organization_id, await inboxes.admins(organization_id), notice, at, tx);
    });
  }

  function tell(event: Envelope, userIds: readonly string[], notice: Notification): Promise<unknown> {
    // most documents are published by their owner: nobody is told, and there is nothing to do only once
    if (userIds.length === 0) return Promise.resolve();
    return store.processOnce(event, async (tx) => {
      await inboxes.tell(event.organization_id, userIds, notice, new Date(event.occurred_at), tx);
    });
  }
}
