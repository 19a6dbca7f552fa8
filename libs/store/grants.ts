/**
 * The MongoDB grants of each service, derived from its contract: it may read and write its own collections, only find
 * and insert in those it appends to, create its views, and read the views of other services in `reads`.
 */
import type { Contract } from '#libs/contract';
import { idempotencyCollection } from './idempotency.ts';
import { inboxCollection } from './inbox.ts';
import { outboxCollection } from './outbox.ts';
import { lockCollection } from './row-locks.ts';

/** MongoDB privilege actions on one collection or view. An empty `collection` means the whole database. */
export interface Grant {
  readonly collection: string;
  readonly actions: readonly string[];
}

const rowActions = ['find', 'insert', 'update', 'remove'];
// GridFS lists the indexes of its bucket before the first upload
const setupActions = ['createCollection', 'createIndex', 'listIndexes'];
// no createIndex: a TTL index would remove rows
const appendActions = ['find', 'insert', 'listIndexes'];

/**
 * Derives a service's grants: own collections, append-only collections, own views, other services' views, then
 * listing collections.
 */
export function toGrants(contract: Contract): Grant[] {
  const { name, owns, appends = [], views, reads } = contract;
  const own = [
    ...owns,
    ...[outboxCollection, inboxCollection, idempotencyCollection, lockCollection].map(
      (declare) => declare(name).name,
    ),
  ];
  const ownViews = views.map((view) => view.name);
  const others = new Set(reads.map((view) => view.name).filter((view) => !ownViews.includes(view)));
  return [
    ...own.map((collection) => ({ collection, actions: [...rowActions, ...setupActions] })),
    ...appends.map((collection) => ({ collection, actions: appendActions })),
    ...ownViews.map((collection) => ({ collection, actions: ['find', 'createCollection', 'collMod'] })),
    ...[...others].map((collection) => ({ collection, actions: ['find'] })),
    // on start, a service checks which collections and views exist
    { collection: '', actions: ['listCollections'] },
  ];
}
