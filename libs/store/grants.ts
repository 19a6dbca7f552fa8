/** What each service's MongoDB user may do, from its contract: write what it owns, read the views it names, nothing else. */
import type { Contract } from '#libs/contract';
import { idempotencyCollection } from './idempotency.ts';
import { inboxCollection } from './inbox.ts';
import { outboxCollection } from './outbox.ts';

/** Actions (in MongoDB's words) on one collection or view; an empty name is the database as a whole. */
export interface Grant {
  readonly collection: string;
  readonly actions: readonly string[];
}

const rows = ['find', 'insert', 'update', 'remove'];
// GridFS looks at the indexes of its bucket before the first upload
const creating = ['createCollection', 'createIndex', 'listIndexes'];

/** The grants of a service, in the order: own collections, own views, views of others, the names of what there is. */
export function toGrants(contract: Contract): Grant[] {
  const { name, owns, views, reads } = contract;
  const own = [
    ...owns,
    ...[outboxCollection, inboxCollection, idempotencyCollection].map((options) => options(name).name),
  ];
  const published = views.map((view) => view.name);
  const others = new Set(reads.map((view) => view.name).filter((view) => !published.includes(view)));
  return [
    ...own.map((collection) => ({ collection, actions: [...rows, ...creating] })),
    ...published.map((collection) => ({ collection, actions: ['find', 'createCollection', 'collMod'] })),
    ...[...others].map((collection) => ({ collection, actions: ['find'] })),
    // a start looks which collections and views are there
    { collection: '', actions: ['listCollections'] },
  ];
}
