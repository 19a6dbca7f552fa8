/** Notifications of members in MongoDB. */
import { newId } from '#libs/contract';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { getCurrentNames } from '../rules/department-names.ts';
import type { AcknowledgementInfo, ApprovalInfo, Notification } from '../rules/notifications.ts';
import { departments, members, type NotificationRow, notifications } from './collections.ts';

/** The member who owns an inbox. */
export type Owner = Actor & { user_id: string };

/** Creates the repository of notifications. */
export function notificationRepository(store: Store) {
  const rows = {
    notifications: store.rows(notifications),
    members: store.rows(members),
    departments: store.rows(departments),
  };

  return {
    /**
     * Notifies members within the transaction that processes the event. Users who are not members are
     * skipped. An unread notification of the same type and subject is replaced. Returns how many members were
     * notified.
     */
    async add(
      organization_id: string,
      userIds: readonly string[],
      notification: Notification,
      at: Date,
      tx: Transaction,
    ): Promise<number> {
      const { session } = tx;
      const recipients = await rows.members
        .find({ organization_id, user_id: { $in: [...userIds] } }, { user_id: 1 }, { session })
        .lean();
      if (recipients.length === 0) return 0;
      const { type, merge } = notification;
      const about = getSubjectId(notification);
      const user_id = { $in: recipients.map((recipient) => recipient.user_id) };
      const unread = { organization_id, user_id, type, about, read_at: null };
      const replaced = merge ? await rows.notifications.find(unread, null, { session }).lean() : [];
      const added = recipients.map((recipient) => {
        const earlier = replaced.find((one) => one.user_id === recipient.user_id);
        const { title, data } = (earlier && merge?.(earlier.data)) ?? notification;
        const subject = { user_id: recipient.user_id, type, about, title, data };
        return { _id: newId(), organization_id, ...subject, read_at: null, created_at: at };
      });
      await rows.notifications.deleteMany(unread, { session });
      await rows.notifications.insertMany(added, { session, lean: true });
      return recipients.length;
    },

    /**
     * The user ids of the members whom a request for acknowledgement asks. Departments may have been renamed since
     * `version` of the organization, to which their names belong; an old event does not have it.
     */
    async listAsked(
      organization_id: string,
      { everyone, departments: names, member_ids }: AcknowledgementInfo['audience'],
      version: number | undefined,
      { session }: Transaction,
    ): Promise<string[]> {
      const mayBeRenamed = !everyone && names.length > 0 && version !== undefined;
      const formerly = { organization_id, 'former_names.name': { $in: names } };
      const current = mayBeRenamed
        ? getCurrentNames(names, version, await rows.departments.find(formerly, null, { session }).lean())
        : names;
      const asked = [{ department: { $in: current } }, { user_id: { $in: member_ids } }];
      const filter = { organization_id, ...(!everyone && { $or: asked }) };
      const found = await rows.members.find(filter, { user_id: 1 }, { session }).lean();
      return found.map(({ user_id }) => user_id);
    },

    /** The user ids of the admins of an organization. */
    async listAdmins(organization_id: string): Promise<string[]> {
      const found = await rows.members.find({ organization_id, role: 'admin' }, { user_id: 1 }).lean();
      return found.map(({ user_id }) => user_id);
    },

    /** A page of an inbox, newest first. */
    async list(
      owner: Owner,
      { unread, before, limit }: { unread: boolean; before: string | undefined; limit: number },
    ): Promise<NotificationRow[]> {
      const filter = {
        ...ownedBy(owner),
        ...(unread && { read_at: null }),
        ...(before !== undefined && { _id: { $lt: before } }),
      };
      return rows.notifications.find(filter).sort({ _id: -1 }).limit(limit).lean();
    },

    async count(owner: Owner): Promise<{ unread: number; total: number }> {
      const [unread, total] = await Promise.all([
        rows.notifications.countDocuments({ ...ownedBy(owner), read_at: null }),
        rows.notifications.countDocuments(ownedBy(owner)),
      ]);
      return { unread, total };
    },

    /**
     * Marks a notification as read; `read_at` keeps its first value. Returns undefined if there is no such
     * notification.
     */
    async markRead(owner: Owner, _id: string, at: Date): Promise<NotificationRow | undefined> {
      const session = toSessionOptions(owner.tx);
      await rows.notifications.updateOne({ ...ownedBy(owner), _id, read_at: null }, { read_at: at }, session);
      return (
        (await rows.notifications.findOne({ ...ownedBy(owner), _id }, null, session).lean()) ?? undefined
      );
    },

    /** Marks what the approvers were told about a request as read, when it was decided or withdrawn. */
    async markRequestRead(
      { organization_id, tx }: Pick<Actor, 'organization_id'> & { tx: Transaction },
      { id, approvers }: ApprovalInfo,
      at: Date,
    ): Promise<void> {
      const user_id = { $in: approvers.map(({ member_id }) => member_id) };
      const requested = { organization_id, user_id, type: 'approval.requested', read_at: null };
      const filter = { ...requested, 'data.approval_id': id };
      await rows.notifications.updateMany(filter, { read_at: at }, toSessionOptions(tx));
    },

    async markAllRead(owner: Owner, at: Date): Promise<void> {
      const session = toSessionOptions(owner.tx);
      await rows.notifications.updateMany({ ...ownedBy(owner), read_at: null }, { read_at: at }, session);
    },

    /** Deletes a notification. Returns false if there is none. */
    async delete(owner: Owner, _id: string): Promise<boolean> {
      return (await rows.notifications.deleteOne({ ...ownedBy(owner), _id })).deletedCount === 1;
    },
  };
}

export type NotificationRepository = ReturnType<typeof notificationRepository>;

/** The id of the document, member or webhook that a notification is about. */
function getSubjectId({ data }: Notification): string {
  return String(data.document_id ?? data.member_id ?? data.webhook_id ?? '');
}

function ownedBy({ organization_id, user_id }: Owner) {
  return { organization_id, user_id };
}
