/** The operations on the caller's inbox, which holds their notifications. */
import { z } from 'zod';
import { id, NotFound, nothing, operation, page, queryFlag } from '#libs/contract';
import { self } from '../access.ts';
import { InboxItem } from '../shapes.ts';

const itemParams = z.object({ item_id: id });

export const listInbox = operation({
  id: 'listInbox',
  method: 'get',
  path: '/inbox',
  summary: 'List your notifications, newest first',
  description: 'Items are deleted after 90 days.',
  access: self,
  query: z.object({
    ...page,
    unread: queryFlag.optional().meta({ description: 'If true, only unread items' }),
  }),
  status: 200,
  returns: z.array(InboxItem),
  paged: true,
  problems: [],
});

export const countInbox = operation({
  id: 'countInbox',
  method: 'get',
  path: '/inbox/counts',
  summary: 'Count the items in your inbox',
  access: self,
  status: 200,
  returns: z.strictObject({ unread: z.number().int(), total: z.number().int() }).meta({ id: 'InboxCounts' }),
  problems: [],
});

export const markInboxItemRead = operation({
  id: 'markInboxItemRead',
  method: 'post',
  path: '/inbox/{item_id}/read',
  summary: 'Mark an inbox item as read',
  access: self,
  params: itemParams,
  status: 200,
  returns: InboxItem,
  problems: [NotFound],
});

export const markInboxRead = operation({
  id: 'markInboxRead',
  method: 'post',
  path: '/inbox/read-all',
  summary: 'Mark all inbox items as read',
  access: self,
  status: 204,
  returns: nothing,
  problems: [],
});

export const deleteInboxItem = operation({
  id: 'deleteInboxItem',
  method: 'delete',
  path: '/inbox/{item_id}',
  summary: 'Delete an inbox item',
  access: self,
  params: itemParams,
  status: 204,
  returns: nothing,
  problems: [NotFound],
});
