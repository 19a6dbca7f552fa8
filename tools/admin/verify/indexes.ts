/**
 * The invariant that MongoDB has every index that the services declare, and no obsolete one: unique ones keep other
 * invariants.
 */
import { idempotencyCollection, inboxCollection, lockCollection, outboxCollection } from '#libs/store';
import { services } from '../../../services/services.ts';
import type { Invariant } from './invariant.ts';

/** The properties of an index that change its effect. */
interface IndexEffect {
  key: object;
  unique?: unknown;
  expireAfterSeconds?: number | undefined;
}

const collections = services.flatMap(({ contract, collections }) => [
  ...collections,
  ...[outboxCollection, inboxCollection, idempotencyCollection, lockCollection].map((declare) =>
    declare(contract.name),
  ),
]);

const appended = new Set(services.flatMap(({ contract }) => contract.appends ?? []));

/** The invariant of all indexes. */
export const indexInvariant: Invariant = {
  name: 'indexes',
  description:
    'A collection has all indexes that its service declares, none that is obsolete, and none that removes rows which only may be added.',
  async *find(scan) {
    for (const { name, schema, obsoleteIndexes } of collections) {
      // the service creates its collections when it starts, `mongo-users` the append-only ones
      if (!(await scan.hasCollection(name))) continue;
      const indexes = await scan.db.collection(name).indexes();
      for (const index of indexes.map((one) => String(one.name)))
        if (obsoleteIndexes.includes(index)) yield `${name} ${index}`;
      // only an administrator may create one, and MongoDB itself would remove the rows
      for (const { name: index, expireAfterSeconds } of indexes)
        if (appended.has(name) && expireAfterSeconds !== undefined) yield `${name} ${index}`;
      const existing = new Set(indexes.map(toText));
      for (const [key, options] of schema.indexes()) {
        const text = toText({ key, ...options });
        if (!existing.has(text)) yield `${name} ${text}`;
      }
    }
  },
};

function toText({ key, unique, expireAfterSeconds }: IndexEffect): string {
  const effects = [
    unique ? 'unique' : undefined,
    expireAfterSeconds === undefined ? undefined : `TTL ${expireAfterSeconds}`,
  ];
  return [JSON.stringify(key), ...effects].filter(Boolean).join(' ');
}
