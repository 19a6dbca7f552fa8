/** Everything that the services keep, to prove that a refused request changes nothing. */
import type { TestApp } from '#libs/testing';

/** Rows as text, by collection and id. */
export type Rows = ReadonlyMap<string, string>;

/** What goes on by itself: which events were heard and sent, when a key was last used, words that follow what was written before. */
const ignoredCollections = /^system\.|_inbox$|^search$/;
const ignoredFields = ['last_used_at', 'reindex_at', 'normalized_title'];
const ignoredEvents = ['api_key.used'];

/** Collections whose new rows are no change: an item of an inbox may come late, a counter is made ready before it counts. */
const growingCollections = /^(notifications|publish_usage)\//;

/** Reads every row of every collection, without what goes on by itself. */
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

/** What became of rows; of those that mention a text, if one is given. */
export function findChanges(before: Rows, after: Rows, mentioning = ''): string[] {
  const all = [...new Set([...before.keys(), ...after.keys()])];
  return all.flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    if (was === is || !`${was} ${is}`.includes(mentioning)) return [];
    if (was === undefined) return growingCollections.test(key) ? [] : [`${key} is new`];
    return [is === undefined ? `${key} is gone` : `${key} is another`];
  });
}

function rowText(row: Record<string, unknown>): string {
  return JSON.stringify(row, (field, value) => (ignoredFields.includes(field) ? undefined : value));
}

/** What was said, whether it was sent already or not. */
function eventText({ type, event }: Record<string, unknown>): string | undefined {
  return ignoredEvents.includes(String(type)) ? undefined : String(event);
}
