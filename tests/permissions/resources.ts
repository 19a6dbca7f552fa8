/** Reads everything that the services store, to check that a rejected request changes nothing. */
import type { TestApp } from '#libs/testing';

/** Stored rows as text, by collection and id. */
export type Rows = ReadonlyMap<string, string>;

/** What changes in the background: consumed and published events, the last use of a key, the search index. */
const ignoredCollections = /^system\.|_inbox$|^search$|^audit_log$/;
const ignoredFields = ['last_used_at', 'reindex_at', 'normalized_title'];
const ignoredEvents = ['api_key.used'];

/** Collections whose new rows do not count: notifications may arrive late, and counters are created before use. */
const growingCollections = /^(notifications|publish_usage|storage_usage)\//;

/** Reads every row of every collection, without what changes in the background. */
export async function readRows(db: TestApp['db']): Promise<Rows> {
  const collections = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !ignoredCollections.test(name));
  const rows = await Promise.all(
    names.map(async (name) => {
      const found = await db.collection(name).find().toArray();
      return found.flatMap((row) => {
        const text = name.endsWith('_outbox') ? eventText(row) : rowText(row);
        return text === undefined ? [] : [[`${name}/${row._id}`, text] as const];
      });
    }),
  );
  return new Map(rows.flat());
}

/** The differences between two readings; if a text is given, only of rows that contain it. */
export function findChanges(before: Rows, after: Rows, mentioning = ''): string[] {
  const all = [...new Set([...before.keys(), ...after.keys()])];
  return all.flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    if (was === is || !`${was} ${is}`.includes(mentioning)) return [];
    if (was === undefined) return growingCollections.test(key) ? [] : [`${key} is new`];
    return [is === undefined ? `${key} is gone` : `${key} has changed`];
  });
}

function rowText(row: Record<string, unknown>): string {
  return JSON.stringify(row, (field, value) => (ignoredFields.includes(field) ? undefined : value));
}

/** The event of an outbox row, without its publishing state; undefined for ignored events. */
function eventText({ type, event }: Record<string, unknown>): string | undefined {
  return ignoredEvents.includes(String(type)) ? undefined : String(event);
}
