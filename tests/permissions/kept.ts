/** Everything that the services keep, to prove that a refused request changes nothing. */
import type { World } from '#libs/testing';

/** Rows as text, by collection and id. */
export type Kept = ReadonlyMap<string, string>;

/** Reads every row of every collection. Left out is what goes on by itself: which events were sent and heard, when a key was last used. */
export async function kept(db: World['db']): Promise<Kept> {
  const collections = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  const names = collections.map(({ name }) => name).filter((name) => !/^system\.|_inbox$/.test(name));
  const rows = await Promise.all(
    names.map(async (name) => {
      const found = await db.collection(name).find().toArray();
      return found
        .filter(({ type }) => !(name.endsWith('_outbox') && type === 'api_key.used'))
        .map((row) => [`${name}/${row._id}`, textOf(name, row)] as const);
    }),
  );
  return new Map(rows.flat());
}

/** Collections whose new rows are no change: an item of an inbox may come late, a counter is made ready before it counts. */
const growing = /^(inbox_items|publish_usage)\//;

/** What became of rows; of those that mention a text, if one is given. */
export function changes(before: Kept, after: Kept, mentioning = ''): string[] {
  const all = [...new Set([...before.keys(), ...after.keys()])];
  return all.flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    if (was === is || !`${was} ${is}`.includes(mentioning)) return [];
    if (was === undefined) return growing.test(key) ? [] : [`${key} is new`];
    return [is === undefined ? `${key} is gone` : `${key} is another`];
  });
}

function textOf(collection: string, row: Record<string, unknown>): string {
  const { last_used_at, ...lasting } = row;
  const { type, event } = row;
  return JSON.stringify(collection.endsWith('_outbox') ? { type, event } : lasting);
}
