/** Inboxes in MongoDB: what concerns a member, always within their organization. */
import { newId } from '#libs/contract';
import type { Actor, Store, Transaction } from '#libs/store';
import type { Notification } from '../rules/notifications.ts';
import { type InboxRow, inboxItems, members } from './collections.ts';

/** Whose inbox. */
export type Owner = Actor & { user_id: string };

/** Puts items into inboxes and reads them. */
export function inboxes(store: Store) {
  const rows = { items: store.rows(inboxItems), members: store.rows(members) };

  return {
    /**
     * Tells members about an event, within the transaction that handles it; who is no member is not told. An unread
     * item about the same thing is replaced, so that repeats fold into one. Gives how many were told.
     */
    async tell(
      organization_id: string,
      userIds: readonly string[],
      notice: Notification,
      at: Date,
      tx: Transaction,
    ): Promise<number> {
      const { session } = tx;
      const told = await rows.members
        .find({ organization_id, user_id: { $in: [...userIds] } }, { user_id: 1 }, { session })
        .lean();
      const { type } = notice;
      const about = aboutOf(notice);
      for (const { user_id } of told) {
        const unread = { organization_id, user_id, type, about, read_at: null };
        const earlier = notice.added && (await rows.items.findOne(unread, null, { session }).lean());
        const { title, data } = (earlier && notice.added?.(earlier.data)) ?? notice;
        await rows.items.deleteMany(unread, { session });
        const row = {
          _id: newId(),
          organization_id,
          user_id,
          type,
          about,
          title,
          data,
          read_at: null,
          created_at: at,
        };
        await rows.items.insertMany([row], { session, lean: true });
      }
      return told.length;
    },

    /** The admins of an organization. */
    async admins(organization_id: string): Promise<string[]> {
      const found = await rows.members.find({ organization_id, role: 'admin' }, { user_id: 1 }).lean();
      return found.map(({ user_id }) => user_id);
    },

    /** A page of an inbox, the newest first. */
    async list(
      owner: Owner,
      { unread, before, limit }: { unread: boolean; before: string | undefined; limit: number },
    ): Promise<InboxRow[]> {
      const which = {
        ...own(owner),
        ...(unread && { read_at: null }),
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.items.find(which).sort({ _id: -1 }).limit(limit).lean();
    },

    async count(owner: Owner): Promise<{ unread: number; total: number }> {
      const [unread, total] = await Promise.all([
        rows.items.countDocuments({ ...own(owner), read_at: null }),
        rows.items.countDocuments(own(owner)),
      ]);
      return { unread, total };
    },

    /** Marks an item as read, the first time with the time; nothing when there is none. */
    async read(owner: Owner, _id: string, at: Date): Promise<InboxRow | undefined> {
      const session = owner.tx ? { session: owner.tx.session } : {};
      await rows.items.updateOne({ ...own(owner), _id, read_at: null }, { read_at: at }, session);
      return (await rows.items.findOne({ ...own(owner), _id }, null, session).lean()) ?? undefined;
    },

    async readAll(owner: Owner, at: Date): Promise<void> {
      const session = owner.tx ? { session: owner.tx.session } : {};
      await rows.items.updateMany({ ...own(owner), read_at: null }, { read_at: at }, session);
    },

    /** Deletes an item; false when there is none. */
    async delete(owner: Owner, _id: string): Promise<boolean> {
      return (await rows.items.deleteOne({ ...own(owner), _id })).deletedCount === 1;
    },
  };
}

export type Inboxes = ReturnType<typeof inboxes>;

/** The id of what a notice is about. */
function aboutOf({ data }: Notification): string {
  return String(data.document_id ?? data.member_id ?? data.webhook_id ?? '');
}

function own({ organization_id, user_id }: Owner) {
  return { organization_id, user_id };
}
